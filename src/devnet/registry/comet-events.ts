/** Transactions of the ledger as CometBFT shows them: typed events, and the same once more as values by key. */
import { createHash } from 'node:crypto'
import { toBech32 } from '../../registry/bech32.ts'
import type { EventValues } from './comet-query.ts'
import type { LedgerTransaction, ViewStep } from './ledger.ts'

interface CometEvent {
  readonly type: string
  readonly attributes: readonly {
    readonly key: string
    readonly value: string
    readonly index: boolean
  }[]
}

/** What of an event is known by its kind. */
const eventTypes: Readonly<Record<ViewStep['kind'], string>> = {
  pending: 'view.view_pending',
  registered: 'view.view_registered',
  failed: 'view.view_registration_failed',
  timed_out: 'view.view_registration_timed_out',
}

/**
 * The events of all steps: the chain has those of a whole transaction in every message about it. Each account that takes
 * part has an event with its address in Bech32, by which `tx_search` finds it. The word for its role is ours.
 */
function eventsOf(transaction: LedgerTransaction): readonly CometEvent[] {
  const senders = transaction.steps
    .filter(({ kind }) => kind === 'pending')
    .map(({ view }) => toBech32(view.creator))
  const participants = [...new Set(senders)].map((address) =>
    event('shinzo', [
      ['address', address],
      ['role', 'sender'],
    ]),
  )
  return [...participants, ...viewEventsOf(transaction)]
}

function viewEventsOf({ steps }: LedgerTransaction): readonly CometEvent[] {
  return steps.map((step, index) => {
    const { address, creator, name, wire } = step.view
    const last: readonly [string, string] =
      'error' in step ? ['error', step.error] : ['data', Buffer.from(wire).toString('base64')]
    return event(eventTypes[step.kind], [
      ['address', address],
      ['creator', creator],
      ['name', name],
      last,
      ['msg_index', String(index)],
    ])
  })
}

/** What a query is held against. */
export function valuesOf(transaction: LedgerTransaction): EventValues {
  const values = new Map<string, string[]>([
    ['tm.event', ['Tx']],
    ['tx.hash', [txHash(transaction)]],
    ['tx.height', [String(transaction.height)]],
  ])
  for (const { type, attributes } of eventsOf(transaction)) {
    for (const { key, value } of attributes) {
      const name = `${type}.${key}`
      values.set(name, [...(values.get(name) ?? []), value])
    }
  }
  return values
}

/** The result part of a message about a transaction. */
export function txResult(transaction: LedgerTransaction): Readonly<Record<string, unknown>> {
  return {
    code: 0,
    data: '',
    log: '',
    info: '',
    gas_wanted: '0',
    gas_used: '0',
    events: eventsOf(transaction),
    codespace: '',
  }
}

/**
 * Bytes that stand for a transaction; their SHA-256 is its hash. One that registers holds the Views, as on the real chain,
 * so that messages about it are as large.
 */
export function txBytes({ id, steps }: LedgerTransaction): Buffer {
  const registered = steps.filter(({ kind }) => kind === 'pending').map(({ view }) => view.wire)
  return Buffer.concat([Buffer.from(`stand-in ${id}`, 'utf8'), ...registered])
}

/** The hash of a transaction, as CometBFT writes it. */
export function txHash(transaction: LedgerTransaction): string {
  return createHash('sha256').update(txBytes(transaction)).digest('hex').toUpperCase()
}

function event(
  type: string,
  attributes: readonly (readonly [key: string, value: string])[],
): CometEvent {
  return { type, attributes: attributes.map(([key, value]) => ({ key, value, index: true })) }
}
