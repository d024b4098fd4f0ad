/** Which blocks can have rows of a View, as far as its lenses are known: their arguments say what they keep. */
import { type FieldNode, Kind } from 'graphql'
import { eventTopics } from './event-topics.ts'
import type { RegisteredView } from './registration.ts'
import { shippedLenses } from './shipped-lenses.ts'
import { lensArguments } from './view.ts'
import type { ViewQuery } from './view-query.ts'

/**
 * What a block needs for the View to have rows: a log of one of these addresses that has one of these topics, 0x and
 * lower-case digits; null where any will do. It says nothing about which logs of such a block are fed.
 */
export interface ViewHints {
  readonly addresses: readonly string[] | null
  readonly topics: readonly string[] | null
}

const anything: ViewHints = { addresses: null, topics: null }

/** keccak256 of `Transfer(address,address,uint256)`. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A lens by its hash, as `lensHash` makes it, and its arguments. */
type KnownLens = Pick<RegisteredView['lenses'][number], 'hash' | 'args'>

/** Whether no lens makes rows out of no documents: ours do not, others may. */
export function hasNothingOfNothing(lenses: readonly KnownLens[]): boolean {
  return lenses.every(({ hash }) => shippedLenses.has(hash))
}

/**
 * The hints of a View; null where it has none. All its lenses have to be ours: another one may make rows out of
 * nothing.
 */
export function hintsOf(lenses: readonly KnownLens[], query: ViewQuery): ViewHints | null {
  if (query.collection !== 'Log' || !keepsAll(query.selection)) return null
  let hints = anything
  let documentsAreLogs = true
  for (const { hash, args } of lenses) {
    const name = shippedLenses.get(hash) ?? ''
    const hint = lensHints[name]
    const values = plainArguments(args)
    if (hint === undefined || values === null) return null
    if (documentsAreLogs) hints = both(hints, hint(values, query.selection))
    documentsAreLogs &&= !name.startsWith('erc20_')
  }
  return hints.addresses === null && hints.topics === null ? null : hints
}

/** Whether leaving blocks out leaves the other documents as they are. */
function keepsAll({ arguments: args = [] }: FieldNode): boolean {
  return args.every(({ name }) => name.value === 'filter')
}

type Arguments = Readonly<Record<string, unknown>>

/** What each lens needs of a log to keep it. */
const lensHints: Readonly<Record<string, (args: Arguments, selection: FieldNode) => ViewHints>> = {
  filter: fieldHints,
  filter_transaction: fieldHints,
  decode_log: eventHints,
  erc20_transfers: tokenHints,
  erc20_balances: tokenHints,
}

function fieldHints({ src, value }: Arguments, selection: FieldNode): ViewHints {
  if (src !== 'address' || !selects(selection, 'address')) return anything
  return { addresses: addressIn(value), topics: null }
}

function eventHints({ abi, unmatched }: Arguments, selection: FieldNode): ViewHints {
  if (unmatched !== 'drop' || !selects(selection, 'topics', 'data')) return anything
  return { addresses: null, topics: eventTopics(abi) }
}

function tokenHints({ tokenAddress }: Arguments, selection: FieldNode): ViewHints {
  if (!selects(selection, 'address', 'topics', 'data')) return anything
  const addresses = addressIn(tokenAddress)
  return { addresses, topics: addresses === null ? null : [transferTopic] }
}

function addressIn(value: unknown): string[] | null {
  return typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value) ? [value.toLowerCase()] : null
}

/** Whether the documents have these fields, and nothing else under their names. */
function selects({ selectionSet }: FieldNode, ...names: readonly string[]): boolean {
  const fields = (selectionSet?.selections ?? []).filter((node) => node.kind === Kind.FIELD)
  return names.every((name) => {
    const found = fields.filter(({ name: own, alias }) => (alias ?? own).value === name)
    return found.length > 0 && found.every(({ name: own }) => own.value === name)
  })
}

/** Null for what only a lens knows how to read: no object, or escapes other than those of an ABI as a string. */
function plainArguments(text: string): Arguments | null {
  const hasEscapes = text.replaceAll(/\\["nrt]/g, '').includes('\\')
  return hasEscapes ? null : (lensArguments(text) ?? null)
}

function both(one: ViewHints, other: ViewHints): ViewHints {
  return {
    addresses: intersection(one.addresses, other.addresses),
    topics: intersection(one.topics, other.topics),
  }
}

function intersection(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  if (one === null || other === null) return one ?? other
  return one.filter((value) => other.includes(value))
}
