import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyView } from '../../src/registry/verify-view.ts'
import { viewLimits } from '../../src/views/view.ts'
import { viewIDs } from '../../src/views/view-id.ts'

const sender = `0x${'12'.repeat(20)}`
const refusal = { code: 'REGISTRY_VIEW_MISMATCH' }

test('a View is taken under either of its two IDs, and refused under any other', () => {
  const wire = Uint8Array.of(1, 2, 3)
  const { id, address } = viewIDs(sender, wire)
  const view = { sender, wire, registeredAt: 7, name: 'V' }
  for (const claimed of [id, address])
    assert.deepEqual(verifyView({ ...view, id: claimed }), {
      id,
      address,
      sender,
      wire,
      registeredAt: 7,
    })
  const others = [viewIDs(`0x${'13'.repeat(20)}`, wire), viewIDs(sender, Uint8Array.of(1, 2, 4))]
  for (const other of others)
    for (const claimed of [other.id, other.address])
      assert.throws(() => verifyView({ ...view, id: claimed }), refusal)
})

test('a View of as many bytes as the chain takes is taken, and one byte more is refused', () => {
  const sent = (bytes: number) => {
    const wire = new Uint8Array(bytes)
    return { id: viewIDs(sender, wire).id, sender, wire, registeredAt: 7, name: 'V' }
  }
  assert.equal(verifyView(sent(viewLimits.wire)).wire.length, viewLimits.wire)
  assert.throws(() => verifyView(sent(viewLimits.wire + 1)), {
    ...refusal,
    message: new RegExp(`it has ${viewLimits.wire + 1} bytes$`),
  })
})
