/** Which blocks can have rows of a View, as far as its lenses are known: their arguments say what they keep. */
import { type FieldNode, Kind } from 'graphql'
import type { TermKind } from '../primitives/index-terms.ts'
import { eventTopics } from './event-topics.ts'
import type { RegisteredView } from './registration.ts'
import { shippedLenses } from './shipped-lenses.ts'
import { lensArguments } from './view.ts'
import type { ViewQuery } from './view-query.ts'

/** The kinds of values that lenses ask for, all of which are in the index of a block. */
export type HintKind = Extract<TermKind, 'logAddress' | 'topic' | 'from' | 'to'>

export const hintKinds: readonly HintKind[] = ['logAddress', 'topic', 'from', 'to']

/** Values of 0x and lower-case digits; of a kind that is not there any will do. */
type HintValues = Readonly<Partial<Record<HintKind, readonly string[]>>>

/**
 * What a block needs for the View to have rows: a document of this collection that has one of the values of each kind.
 * It says nothing about which documents of such a block are fed.
 */
export interface ViewHints {
  readonly collection: string
  readonly values: HintValues
}

const anything: HintValues = {}

/** keccak256 of `Transfer(address,address,uint256)`. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A lens by its hash, as `lensHash` makes it, and its arguments. */
type KnownLens = Pick<RegisteredView['lenses'][number], 'hash' | 'args'>

/** Whether no lens makes rows out of no documents: ours do not, others may. */
export function hasNothingOfNothing(
  lenses: readonly KnownLens[],
  ours: ReadonlyMap<string, string> = shippedLenses,
): boolean {
  return lenses.every(({ hash }) => ours.has(hash))
}

/**
 * The hints of a View; null where it has none. All its lenses have to be ours: another one may make rows out of
 * nothing.
 */
export function hintsOf(
  lenses: readonly KnownLens[],
  query: ViewQuery,
  ours: ReadonlyMap<string, string> = shippedLenses,
): ViewHints | null {
  const { collection, selection } = query
  const known = lensHints[collection]
  if (known === undefined || !keepsAll(selection)) return null
  let values = anything
  let documentsAreSelected = true
  for (const { hash, args } of lenses) {
    const name = ours.get(hash) ?? ''
    const hint = known[name]
    const plain = plainArguments(args)
    if (hint === undefined || plain === null) return null
    if (documentsAreSelected) values = both(values, hint(plain, query))
    documentsAreSelected &&= !name.startsWith('erc20_')
  }
  return Object.keys(values).length === 0 ? null : { collection, values }
}

/** Whether leaving blocks out leaves the other documents as they are. */
function keepsAll({ arguments: args = [] }: FieldNode): boolean {
  return args.every(({ name }) => name.value === 'filter')
}

type Arguments = Readonly<Record<string, unknown>>

type LensHint = (args: Arguments, query: ViewQuery) => HintValues

/** What each lens needs of a document to keep it, by the collection that it is made for. */
const lensHints: Readonly<Record<string, Readonly<Record<string, LensHint>>>> = {
  Log: {
    filter: fieldHints,
    filter_transaction: fieldHints,
    decode_log: eventHints,
    erc20_transfers: tokenHints,
    erc20_balances: tokenHints,
  },
  Transaction: {
    filter: fieldHints,
    filter_transaction: fieldHints,
    decode_call: () => anything,
  },
}

/** Fields that hold an address. No lens above gives one of them to something else. */
const addressFields: Readonly<Record<string, HintKind>> = {
  'Log.address': 'logAddress',
  'Transaction.from': 'from',
  'Transaction.to': 'to',
}

function fieldHints({ src, value }: Arguments, { collection, selection }: ViewQuery): HintValues {
  if (typeof src !== 'string' || !selects(selection, src)) return anything
  const kind = addressFields[`${collection}.${src}`]
  const address = addressIn(value)
  if (kind === undefined || address === null) return anything
  return { [kind]: [address] }
}

function eventHints({ abi, unmatched }: Arguments, { selection }: ViewQuery): HintValues {
  if (unmatched !== 'drop' || !selects(selection, 'topics', 'data')) return anything
  const topics = eventTopics(abi)
  return topics === null ? anything : { topic: topics }
}

function tokenHints({ tokenAddress }: Arguments, { selection }: ViewQuery): HintValues {
  const address = addressIn(tokenAddress)
  if (address === null || !selects(selection, 'address', 'topics', 'data')) return anything
  return { logAddress: [address], topic: [transferTopic] }
}

function addressIn(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value) ? value.toLowerCase() : null
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

function both(one: HintValues, other: HintValues): HintValues {
  const values: Partial<Record<HintKind, readonly string[]>> = { ...one, ...other }
  for (const kind of hintKinds) {
    const others = other[kind]
    const common = one[kind]?.filter((value) => others?.includes(value) ?? true)
    if (common !== undefined) values[kind] = common
  }
  return values
}
