/** A View with who registered it and when: what its bytes say, checked as far as no schema and no module is needed. */
import { ServiceError } from '../errors.ts'
import { lensHash } from './lens-hash.ts'
import { parseRowType, type RowType } from './rows/row-type.ts'
import { lensArguments, type View } from './view.ts'
import { viewIDs } from './view-id.ts'
import { checkMaterializable, parseViewQuery, type ViewQuery } from './view-query.ts'

/** Wire bytes as somebody registered them. */
export interface Registration {
  /** The address that registered it, 0x and 40 digits; `noSender` for a View of this Host alone. */
  readonly sender: string
  /** Height of the registry chain at which it was registered; null for a View of this Host alone. */
  readonly registeredAt: number | null
  readonly wire: Uint8Array
}

/** A lens, without its module. */
interface LensFacts {
  /** See `lensHash`. */
  readonly hash: string
  /** Length of the module. */
  readonly bytes: number
  /** As they were written; empty for none. */
  readonly args: string
}

/** What follows from the bytes by hashing all of them, which takes a while: kept beside them. */
export interface ViewFacts {
  /** keccak256(sender ‖ wire): 0x and 64 digits, lower-case. */
  readonly id: string
  /** The ID of the registry chain, with the checksum of EIP-55. */
  readonly address: string
  readonly lenses: readonly LensFacts[]
}

/** What a registration holds; the modules stay in its wire bytes, where they are a hundredth of their size. */
export interface RegisteredView extends Registration, ViewFacts {
  readonly sdl: string
  readonly queryText: string
  readonly rowType: RowType
  /** What it reads; null where that is another chain, named in `foreign`. */
  readonly query: ViewQuery | null
  /** The full name of the collection of another chain; null for a View of this one. */
  readonly foreign: string | null
}

/**
 * Reads a registration for a Host of `network`, as in `Ethereum__Mainnet`. `view` is what `decodeView` made of its
 * wire bytes, `known` what was kept of it.
 * @throws ServiceError `VIEWS_SDL_INVALID`, `VIEWS_QUERY_INVALID` or `VIEWS_ARGUMENTS_INVALID`, with the place and what
 *   is accepted there.
 */
export function readRegistration(
  registration: Registration,
  view: View,
  network: string,
  known: ViewFacts | null = null,
): RegisteredView {
  const { sender, registeredAt, wire } = registration
  const rowType = parseRowType(view.sdl)
  const query = parseViewQuery(view.query, network)
  for (const [index, { args }] of view.lenses.entries()) checkArguments(args, index + 1)
  const isForeign = 'foreign' in query
  if (!isForeign && rowType.materialized) checkMaterializable(query)
  return {
    ...(known ?? factsOf(registration, view)),
    sender: sender.toLowerCase(),
    registeredAt,
    wire,
    sdl: view.sdl,
    queryText: view.query,
    rowType,
    query: isForeign ? null : query,
    foreign: isForeign ? query.foreign : null,
  }
}

function factsOf({ sender, wire }: Registration, { lenses }: View): ViewFacts {
  return {
    ...viewIDs(sender, wire),
    lenses: lenses.map(({ wasm, args }) => ({ hash: lensHash(wasm), bytes: wasm.length, args })),
  }
}

function checkArguments(args: string, lens: number): void {
  if (lensArguments(args) !== undefined) return
  throw new ServiceError(
    'VIEWS_ARGUMENTS_INVALID',
    `the arguments of lens ${lens} are not a JSON object`,
    {
      facts: { lens },
      remedy: 'Write an object, as in {"address": "0x…"}, or nothing.',
    },
  )
}
