import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noSender, parseViewID, viewIDs } from '../../src/views/view-id.ts'
import { first, second } from './vectors.ts'

/** Service page: "View ID: deterministic, keccak256 over the sender and the wire bytes of the View". */
test('the View ID is keccak256 over sender and wire bytes; the chain’s own is an address', () => {
  for (const { sender, wire, id, address } of [first, second])
    assert.deepEqual(viewIDs(sender, Buffer.from(wire, 'hex')), { id, address })
})

test('another sender or another byte is another View', () => {
  const wire = Buffer.from(first.wire, 'hex')
  const { id, address } = viewIDs(noSender, wire)
  assert.notEqual(id, first.id)
  assert.notEqual(address, first.address)
  wire[10] = 0
  assert.notEqual(viewIDs(first.sender, wire).id, first.id)
})

test('either ID is understood in every spelling that tools show', () => {
  const { id, address } = first
  for (const text of [id, `V_${id}`, id.toUpperCase().replace('0X', '0x')])
    assert.deepEqual(parseViewID(text), { id })
  for (const text of [address, address.toLowerCase()])
    assert.deepEqual(parseViewID(text), { address })
})

test('what is no ID is not taken for one', () => {
  for (const text of [
    '',
    'V',
    '0x',
    first.id.slice(0, -1),
    `${first.id}0`,
    `V-${first.id}`,
    `${first.address}00`,
  ])
    assert.equal(parseViewID(text), null, text)
})
