/** A View with who registered it and when: what its bytes say, checked as far as no schema and no module is needed. */
import { ServiceError } from '../errors.ts'
import { parseRowType, type RowType } from './row-type.ts'
import { lensArguments, type View } from './view.ts'
import { viewIDs } from './view-id.ts'
import { checkMaterializable, parseViewQuery, type ViewQuery } from './view-query.ts'
import { decodeView } from './wire.ts'

/** Wire bytes as somebody registered them. */
export interface Registration {
  /** The address that registered it, 0x and 40 digits; `noSender` for a View of this Host alone. */
  readonly sender: string
  /** Height of the registry chain at which it was registered; null for a View of this Host alone. */
  readonly registeredAt: number | null
  readonly wire: Uint8Array
}

/** What a registration holds. */
export interface RegisteredView extends Omit<Registration, 'wire'> {
  /** keccak256(sender ‖ wire): 0x and 64 digits, lower-case. */
  readonly id: string
  /** The ID of the registry chain, with the checksum of EIP-55. */
  readonly address: string
  readonly view: View
  readonly rowType: RowType
  /** What it reads; null where that is another chain, named in `foreign`. */
  readonly query: ViewQuery | null
  /** The full name of the collection of another chain; null for a View of this one. */
  readonly foreign: string | null
  /** Length of the wire bytes. */
  readonly wireBytes: number
}

/**
 * Reads a registration for a Host of `network`, as in `Ethereum__Mainnet`.
 * @throws ServiceError `VIEWS_WIRE_MALFORMED`, `VIEWS_TOO_LARGE`, `VIEWS_SDL_INVALID`, `VIEWS_QUERY_INVALID` or
 *   `VIEWS_ARGUMENTS_INVALID`, with the place and what is accepted there.
 */
export function readRegistration(registration: Registration, network: string): RegisteredView {
  const { sender, registeredAt, wire } = registration
  const view = decodeView(wire)
  const rowType = parseRowType(view.sdl)
  const query = parseViewQuery(view.query, network)
  for (const [index, { args }] of view.lenses.entries()) checkArguments(args, index + 1)
  const isForeign = 'foreign' in query
  if (!isForeign && rowType.materialized) checkMaterializable(query)
  return {
    ...viewIDs(sender, wire),
    sender: sender.toLowerCase(),
    registeredAt,
    view,
    rowType,
    query: isForeign ? null : query,
    foreign: isForeign ? query.foreign : null,
    wireBytes: wire.length,
  }
}

function checkArguments(args: string, lens: number): void {
  if (lensArguments(args) !== undefined) return
  throw new ServiceError(
    'VIEWS_ARGUMENTS_INVALID',
    `the arguments of lens ${lens} are no JSON object`,
    {
      facts: { lens },
      remedy: 'Write an object, as in {"address": "0x…"}, or nothing.',
    },
  )
}
