/** How CometBFT shows what happened to Views. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { txBytes, txHash, txResult, valuesOf } from '../../../src/devnet/registry/comet-events.ts'
import type { LedgerTransaction, ViewStep } from '../../../src/devnet/registry/ledger.ts'
import { toBech32 } from '../../../src/registry/bech32.ts'

const creator = `0x${'11'.repeat(20)}`
const view = (byte: number) => ({
  ...{ address: `0x${String(byte).repeat(40)}`, creator, name: `V${byte}`, height: 7 },
  wire: Uint8Array.of(byte, 255),
})
const transaction = (...steps: ViewStep[]): LedgerTransaction => ({ height: 7, id: 'one', steps })
const registering = transaction(
  { kind: 'pending', view: view(1) },
  { kind: 'pending', view: view(2) },
)
const settling = transaction(
  { kind: 'registered', view: view(1) },
  { kind: 'failed', view: view(2), error: 'why' },
  { kind: 'timed_out', view: view(3), error: 'late' },
)

/** Types of events, each with its attributes. */
function eventsOf(of: LedgerTransaction): unknown[] {
  const events = txResult(of)['events'] as {
    readonly type: string
    readonly attributes: readonly { readonly key: string; readonly value: string }[]
  }[]
  return events.map(({ type, attributes }) => [
    type,
    Object.fromEntries(attributes.map(({ key, value }) => [key, value])),
  ])
}

const shown = (byte: number, index: number) => ({
  ...{ address: view(byte).address, creator, name: `V${byte}`, msg_index: String(index) },
})

test('a registration names its sender once, and each View with its bytes', () => {
  const data = (byte: number): string => Buffer.from(view(byte).wire).toString('base64')
  assert.deepEqual(eventsOf(registering), [
    ['shinzo', { address: toBech32(creator), role: 'sender' }],
    ['view.view_pending', { ...shown(1, 0), data: data(1) }],
    ['view.view_pending', { ...shown(2, 1), data: data(2) }],
  ])
})

test('an end of waiting names no sender, and says why where it is a failure', () => {
  assert.deepEqual(eventsOf(settling), [
    ['view.view_registered', { ...shown(1, 0), data: Buffer.from([1, 255]).toString('base64') }],
    ['view.view_registration_failed', { ...shown(2, 1), error: 'why' }],
    ['view.view_registration_timed_out', { ...shown(3, 2), error: 'late' }],
  ])
})

test('every attribute is one that queries find', () => {
  const { events } = txResult(registering) as {
    events: { attributes: { index: boolean }[] }[]
  }
  const attributes = events.flatMap((event) => event.attributes)
  assert.equal(attributes.length, 12)
  assert.ok(attributes.every(({ index }) => index))
})

test('a query finds all values of an attribute, and height and hash of the transaction', () => {
  const values = valuesOf(registering)
  assert.deepEqual(values.get('view.view_pending.name'), ['V1', 'V2'])
  assert.deepEqual(values.get('shinzo.role'), ['sender'])
  assert.deepEqual(values.get('tm.event'), ['Tx'])
  assert.deepEqual(values.get('tx.height'), ['7'])
  assert.deepEqual(values.get('tx.hash'), [txHash(registering)])
})

test('the bytes of a transaction hold the Views that it registers, and have its hash', () => {
  assert.deepEqual(
    txBytes(registering),
    Buffer.from('stand-in one\u0001\u00ff\u0002\u00ff', 'latin1'),
  )
  assert.deepEqual(txBytes(settling), Buffer.from('stand-in one'))
  const hash = createHash('sha256').update(txBytes(registering)).digest('hex')
  assert.equal(txHash(registering), hash.toUpperCase())
})
