/** What is known of the networks of connected peers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOtherNetworks, rangeProtocol } from '../../../src/p2p/peers/networks.ts'

const [ours, theirs] = ['Local__Devnet', 'Other__Net'].map(rangeProtocol)
assert.ok(ours && theirs)

test('a peer of another network is one until it says otherwise, or leaves', () => {
  const networks = createOtherNetworks('Local__Devnet')
  const served = (peer: string): unknown => networks.error(peer)?.facts?.['serves']
  assert.equal(networks.identified('p', ['/ipfs/id/1.0.0', theirs]), false)
  assert.equal(networks.identified('q', []), false)
  assert.deepEqual([served('p'), served('q'), served('unknown')], ['Other__Net', null, undefined])
  assert.equal(networks.identified('p', [theirs, ours]), true)
  assert.equal(networks.error('p'), null)
  networks.left('q')
  assert.equal(networks.error('q'), null)
})
