/**
 * Blocks as people write them into a fixture and as a Host answers them: documents nested in each other, every field
 * of which may be left out. Here they become the blocks that a node answers.
 */
import { createHash } from 'node:crypto'
import { didYouMean, nearestName } from '../../did-you-mean.ts'
import { ServiceError } from '../../errors.ts'
import { isObject } from '../../json-object.ts'
import { type CollectionName, collections, type Field } from '../../primitives/collections.ts'
import type { RpcBlock, RpcLog, RpcReceipt, RpcTransaction } from '../../primitives/rpc-block.ts'

/** A block with its receipts. */
export interface TrialBlock {
  readonly number: number
  readonly hash: string
  readonly block: RpcBlock
  readonly receipts: readonly RpcReceipt[]
}

/** What a document of a fixture may hold beside its fields. */
const relations: Partial<Record<CollectionName, readonly string[]>> = {
  Block: ['transactions', 'logs'],
  Transaction: ['logs', 'accessList'],
}

/** Most items of one list of a block: far more than blocks have. */
const maxItems = 100_000

type Fields = Readonly<Record<string, unknown>>

/** What a block has where its fixture does not say it: as the next one of the chain. */
interface BlockDefaults {
  readonly number: number
  readonly parentHash: string
  /** Seconds since 1970. */
  readonly timestamp: number
}

/** For the first block of a fixture that says nothing of it. */
const firstDefaults: BlockDefaults = {
  number: 1,
  parentHash: `0x${'0'.repeat(64)}`,
  timestamp: 1_700_000_000,
}
const blockSeconds = 12

/**
 * Reads blocks, each by default the next one of the chain; `where` names them in errors.
 * @throws ServiceError `TOOLKIT_FIXTURE_INVALID` with the place and what is accepted there.
 */
export function readBlocks(blocks: readonly unknown[], where: string): TrialBlock[] {
  let defaults = firstDefaults
  return blocks.map((given, index) => {
    const block = readBlock(given, defaults, `${where}[${index}]`)
    const timestamp = Number(block.block.timestamp) + blockSeconds
    defaults = { number: block.number + 1, parentHash: block.hash, timestamp }
    return block
  })
}

function readBlock(given: unknown, defaults: BlockDefaults, where: string): TrialBlock {
  const fields = documentOf('Block', given, where)
  const number = numberOf(fields['number'] ?? defaults.number, `${where}.number`)
  const hash = textOf(fields['hash'], madeUp(`block ${number}`), `${where}.hash`)
  const transactions = transactionsOf(fields, number, where)
  const logIndex = { next: 0 }
  const receipts = transactions.map(({ fields: each, where: at }, index) =>
    receiptOf(each, logIndex, { number, index, at }),
  )
  const block = {
    timestamp: quantity(defaults.timestamp),
    parentHash: defaults.parentHash,
    ...valuesOf('Block', fields, where),
    hash,
    number: quantity(number),
    transactions: transactions.map(({ transaction }) => transaction),
  }
  return { number, hash, block: block as RpcBlock, receipts }
}

interface ReadTransaction {
  readonly fields: Fields
  readonly where: string
  readonly transaction: RpcTransaction
}

/** Logs right in a block are those of a transaction that nobody has to write. */
function transactionsOf(block: Fields, number: number, where: string): ReadTransaction[] {
  const given = listOf(block['transactions'], `${where}.transactions`).map(
    (each, index) => [each, `${where}.transactions[${index}]`] as const,
  )
  const logs = listOf(block['logs'], `${where}.logs`)
  const own = logs.length === 0 ? [] : [[{ logs }, where] as const]
  return [...given, ...own].map(([each, at], index) => {
    const fields = documentOf('Transaction', each, at)
    const hash = textOf(fields['hash'], madeUp(`transaction ${number} ${index}`), `${at}.hash`)
    const place = { blockNumber: number, transactionIndex: index }
    checkPlace(fields, place, at)
    const entries = listOf(fields['accessList'], `${at}.accessList`)
    const accessList = entries.map((entry, position) => {
      const name = `${at}.accessList[${position}]`
      return valuesOf('AccessListEntry', documentOf('AccessListEntry', entry, name), name)
    })
    const transaction = { ...valuesOf('Transaction', fields, at), hash, accessList }
    return { fields, where: at, transaction: transaction as RpcTransaction }
  })
}

interface ReceiptPlace {
  readonly number: number
  readonly index: number
  readonly at: string
}

function receiptOf(
  fields: Fields,
  logIndex: { next: number },
  { number, index, at }: ReceiptPlace,
): RpcReceipt {
  const logs = listOf(fields['logs'], `${at}.logs`).map((given, position) => {
    const where = `${at}.logs[${position}]`
    const log = documentOf('Log', given, where)
    checkPlace(log, { blockNumber: number, transactionIndex: index }, where)
    const own = numberOf(log['logIndex'] ?? logIndex.next, `${where}.logIndex`)
    logIndex.next = own + 1
    const removed = textOf(log['removed'], 'false', `${where}.removed`)
    if (removed !== 'true' && removed !== 'false')
      throw invalid(`${where}.removed`, removed, '"true" or "false"')
    return {
      data: '0x',
      ...valuesOf('Log', log, where),
      logIndex: quantity(own),
      removed: removed === 'true',
    } as RpcLog
  })
  const own = collections.Transaction.fields.flatMap((field) => {
    const { name } = field
    const value = fields[name]
    if (!receiptFields.has(name) || value === undefined || value === null) return []
    return [[name, toRpc(field, value, `${at}.${name}`)] as const]
  })
  return { ...Object.fromEntries(own), logs }
}

/** What a transaction has of its receipt. */
const receiptFields: ReadonlySet<string> = new Set([
  'gasUsed',
  'cumulativeGasUsed',
  'effectiveGasPrice',
  'status',
])

/** Fields that follow from where a document is, and are checked against that where they are written. */
const placeFields: ReadonlySet<string> = new Set(['blockNumber', 'transactionIndex', 'logIndex'])

function checkPlace(fields: Fields, place: Readonly<Record<string, number>>, where: string): void {
  for (const [name, expected] of Object.entries(place)) {
    const found = fields[name]
    if (found === undefined || found === null || found === expected) continue
    throw invalid(`${where}.${name}`, found, `${expected}, which follows from its place`)
  }
}

/** The fields of a document as a node would have them; places, and what is null, are left out. */
function valuesOf(collection: CollectionName, fields: Fields, where: string): Fields {
  const entries = collections[collection].fields.flatMap((field) => {
    const { name } = field
    const value = fields[name]
    const isLeftOut = value === undefined || value === null || placeFields.has(name)
    if (isLeftOut || name === 'number') return []
    return [[name, toRpc(field, value, `${where}.${name}`)] as const]
  })
  return Object.fromEntries(entries)
}

function toRpc({ kind, list }: Field, value: unknown, where: string): unknown {
  if (list === true)
    return listOf(value, where).map((item, index) => textOf(item, '', `${where}[${index}]`))
  if (kind === 'boolean') {
    if (typeof value === 'boolean') return value ? '0x1' : '0x0'
    throw invalid(where, value, 'true or false')
  }
  if (kind === 'quantity' && typeof value === 'number') return quantity(numberOf(value, where))
  return textOf(value, '', where)
}

function documentOf(collection: CollectionName, given: unknown, where: string): Fields {
  if (!isObject(given)) throw invalid(where, given, `an object with fields of ${collection}`)
  const names = collections[collection].fields.map(({ name }) => name)
  const known = [...names, ...(relations[collection] ?? [])]
  // What begins with an underscore a Host has added.
  const unknown = Object.keys(given).find((name) => !name.startsWith('_') && !known.includes(name))
  if (unknown === undefined) return { ...given }
  const shown = unknown.slice(0, 80)
  throw new ServiceError(
    'TOOLKIT_FIXTURE_INVALID',
    `${where} has the field ${shown}, which a ${collection} does not have${didYouMean(nearestName(shown, known))}`,
    { remedy: `Accepted are ${known.join(', ')}.` },
  )
}

function listOf(given: unknown, where: string): readonly unknown[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) throw invalid(where, given, 'a list')
  if (given.length > maxItems) throw invalid(where, given.length, `at most ${maxItems} items`)
  return given
}

function textOf(given: unknown, fallback: string, where: string): string {
  if (given === undefined || given === null) return fallback
  if (typeof given === 'string') return given
  throw invalid(where, given, 'text, as in "0x2a"')
}

function numberOf(given: unknown, where: string): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given
  throw invalid(where, given, 'a whole number that is not negative')
}

const quantity = (value: number): string => `0x${value.toString(16)}`

function madeUp(name: string): string {
  return `0x${createHash('sha256').update(name).digest('hex')}`
}

function invalid(where: string, found: unknown, accepted: string): ServiceError {
  const shown = JSON.stringify(found).slice(0, 80)
  return new ServiceError('TOOLKIT_FIXTURE_INVALID', `${where} is ${shown}`, {
    remedy: `Accepted there is ${accepted}.`,
  })
}
