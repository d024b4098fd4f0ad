/** What the generations of the registry chain say of a View, each in its own words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readAnnouncedView, readListedView } from '../../src/registry/listed-view.ts'
import { attributesOf, readTxEvents } from '../../src/registry/tx-events.ts'
import { verifyView } from '../../src/registry/verify-view.ts'
import { viewLimits } from '../../src/views/view.ts'
import { viewIDs } from '../../src/views/view-id.ts'
import { first } from '../views/vectors.ts'

const data = Buffer.from(first.wire, 'hex').toString('base64')
const bech32 = 'shinzo1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg32xgktr'
const listed = { id: first.address, sender: first.sender, name: 'V', registeredAt: 7 }

test('a View of a list is read in the words of each generation', () => {
  const { address, sender: creator } = first
  const generations = [
    { address, creator, name: 'V', height: '7', data: null, metadata: null },
    { contract_address: address.toLowerCase(), creator: bech32, name: 'V', height: 7 },
    { view_id: `V_${address}`, creator, name: 'V', height: '7' },
  ]
  for (const fields of generations) assert.deepEqual(readListedView(fields), listed)
  const older = { key: first.id, creator: bech32, name: 'V', height: '7' }
  assert.deepEqual(readListedView(older), { ...listed, id: first.id })
})

test('an event is read in the words of each generation', () => {
  const { address, sender: creator, id } = first
  const wire = new Uint8Array(Buffer.from(first.wire, 'hex'))
  const { registeredAt: _, ...announced } = listed
  assert.deepEqual(
    [
      readAnnouncedView({ address, creator, name: 'V', data, msg_index: '0' }),
      readAnnouncedView({ view_id: `V_${address}`, contract_address: address, creator: bech32 }),
      readAnnouncedView({ key: id, creator: bech32, view: data }),
    ],
    [
      { ...announced, wire },
      { ...announced, name: '', wire: null },
      { ...announced, id, name: '', wire },
    ],
  )
})

test('bytes are read up to those of the largest View, and of an event alone', () => {
  const { address, sender: creator } = first
  const dataOf = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64')
  const bytesOf = (bytes: number): number | null => {
    const view = readAnnouncedView({ address, creator, name: 'V', data: dataOf(bytes) })
    const wire = ('wire' in view && view.wire) || []
    return wire.every((byte) => byte === 7) ? wire.length : null
  }
  assert.equal(bytesOf(viewLimits.wire), viewLimits.wire)
  assert.equal(bytesOf(viewLimits.wire + 1), 0)
  assert.deepEqual(readListedView({ address, creator, name: 'V', height: 7, data: '!' }), listed)
})

test('an ID has as many characters as the longest name of a type leaves it, and no more', () => {
  const { id, sender: creator } = first
  const readOf = (name: string) => readAnnouncedView({ key: `${name}_${id}`, creator })
  assert.equal(readOf('N'.repeat(256)).id, id)
  assert.deepEqual(readOf('N'.repeat(257)), { id: 'N'.repeat(80), reason: 'its ID is invalid' })
})

test('what cannot be a View is refused with the reason', () => {
  const whole = { address: first.address, creator: first.sender, name: 'V', height: '7' }
  const reasons = [
    [{ ...whole, address: 'x'.repeat(200) }, 'its ID is invalid'],
    [{ ...whole, creator: 'shinzo1abc' }, 'its creator is not an account'],
    [{ ...whole, creator: `0x${'0'.repeat(40)}` }, 'its creator is not an account'],
    [{ ...whole, name: 'a b' }, 'its name is not that of a type'],
    [{ ...whole, name: 'a'.repeat(257) }, 'its name is not that of a type'],
    [{ ...whole, height: '-1' }, 'its height is invalid'],
    [{ ...whole, height: '9'.repeat(16) }, 'its height is invalid'],
    [{ ...whole, height: ['7'] }, 'its height is invalid'],
  ] as const
  for (const [fields, reason] of reasons) {
    const read = readListedView(fields)
    assert.ok('reason' in read)
    assert.equal(read.reason, reason)
    assert.ok(read.id.length <= 80)
  }
})

test('names have up to 256 characters, heights up to 15 digits, and creators either case', () => {
  const whole = { address: first.address, creator: first.sender, name: 'V', height: '7' }
  const longest = { name: 'a'.repeat(256), height: '9'.repeat(15) }
  const creator = `0x${first.sender.slice(2).toUpperCase()}`
  assert.deepEqual(readListedView({ ...whole, ...longest, creator }), {
    ...listed,
    name: longest.name,
    registeredAt: 999_999_999_999_999,
  })
})

test('a View is verified by either of its IDs, and refused by any other', () => {
  const wire = new Uint8Array(Buffer.from(first.wire, 'hex'))
  const { id, address, sender } = first
  const verified = { id, address, sender, registeredAt: 7, wire }
  assert.deepEqual(verifyView({ ...listed, wire }), verified)
  assert.deepEqual(verifyView({ ...listed, id, wire }), verified)
  const wrong = [
    { ...listed, id: `0x${'1'.repeat(64)}`, wire },
    { ...listed, sender: `0x${'2'.repeat(40)}`, wire },
    { ...listed, wire: wire.subarray(1) },
    { ...listed, wire: new Uint8Array(384 * 1024 + 1) },
  ]
  for (const view of wrong)
    assert.throws(() => verifyView(view), { code: 'REGISTRY_VIEW_MISMATCH' })
  const largest = new Uint8Array(viewLimits.wire)
  const own = viewIDs(sender, largest)
  assert.equal(verifyView({ ...listed, id: own.id, wire: largest }).id, own.id)
})

test('all registrations of a transaction are read, and nothing else of it', () => {
  const attributes = (address: string): unknown[] => [
    { key: 'address', value: address, index: true },
    { key: 'creator', value: first.sender, index: true },
    { key: 'name', value: 'V', index: true },
  ]
  const other = `0x${'2'.repeat(40)}`
  const events = [
    { type: 'tx', attributes: [{ key: 'address', value: other }] },
    { type: 'view.view_registered', attributes: attributes(first.address) },
    { type: 'view.view_registration_failed', attributes: attributes(other) },
    { type: 'view.view_registered', attributes: attributes(other) },
  ]
  const message = (list: unknown) => ({
    query: '',
    data: {
      type: 'tendermint/event/Tx',
      value: { TxResult: { height: '9', result: { events: list } } },
    },
  })
  const read = readTxEvents(message(events))
  assert.deepEqual([read.height, read.isCut], [9, false])
  assert.deepEqual(
    read.views.map(({ id }) => id),
    [first.address, other],
  )
  for (const [count, isCut] of [
    [256, false],
    [257, true],
  ] as const) {
    const many = readTxEvents(message(Array.from({ length: count }, () => events[1])))
    assert.deepEqual([many.views.length, many.isCut], [256, isCut])
  }
})

test('of an event the first 32 attributes are read, of a message a height of up to 15 digits', () => {
  const others = (count: number): unknown[] =>
    Array.from({ length: count }, (_, index) => ({ key: `other ${index}`, value: '' }))
  const creator = { key: 'creator', value: first.sender }
  const address = { key: 'address', value: first.address }
  const readAfter = (count: number, height: string) => {
    const attributes = [...others(count), creator, address]
    const result = { events: [{ type: 'Registered', attributes }] }
    const { views, ...read } = readTxEvents({ data: { value: { TxResult: { height, result } } } })
    return [read.height, views.map((view) => view.id)]
  }
  assert.deepEqual(readAfter(30, '9'.repeat(15)), [999_999_999_999_999, [first.address]])
  assert.deepEqual(readAfter(31, '9'.repeat(16)), [null, ['']])
  assert.deepEqual(readAfter(30, '-1'), [null, [first.address]])
  assert.deepEqual(attributesOf({ attributes: [{ key: ['address'], value: '' }, creator] }), {
    creator: first.sender,
  })
})

test('whatever JSON a chain sends is read without a failure', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.ok('id' in readListedView(value))
      assert.deepEqual(readTxEvents(value).views, [])
      const result = { events: [{ type: 'Registered', attributes: value }] }
      const data = { value: { TxResult: { height: value, result } } }
      assert.equal(readTxEvents({ data }).views.length, 1)
    }),
  )
})
