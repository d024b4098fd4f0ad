/** What a Host passes on: nothing for which its peers would blame it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeSealedBlock } from '../../src/primitives/sealed-block.ts'
import { createChain, shapes } from '../support/chain/block-factory.ts'
import { sealBlock, testSigner } from '../support/chain/sealed-blocks.ts'
import { openRoom, type TestRoom, until } from '../support/p2p-room.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { openTestGenerator } from '../support/test-generator.ts'
import { openTestHost, type TestHost } from './support/test-host.ts'

const network = 'Local__Devnet'
const count = 8

const faultsOf = (host: TestHost): (string | undefined)[] =>
  host.captured.lines.filter(({ msg }) => msg === 'peer fault').map(({ peer }) => String(peer))

test('good seals beside a stranger’s rubbish are not forwarded, and only the stranger is blamed', async (t) => {
  const chain = createChain({ count, from: 1, shape: shapes.empty })
  const one = await openTestGenerator(t, 'one', chain)
  const second = testSigner('two', 'Ed25519')
  const env = { HOST_TRUSTED_SIGNERS: `${one.signer.identity},${second.identity}` }
  const near = await openTestHost(t, { name: 'near', peers: [one.room.address], env })
  near.pass(60_000)
  await near.reached(count)
  const far = await openTestHost(t, { name: 'far', peers: [near.address], env })
  const stranger = await openRoom(t, {
    options: { network },
    onBlock: async () => ({ action: 'ignore', reason: 'it only sends' }),
  })
  stranger.p2p.setBootstrapPeers([near.address])
  const isSubscribed = ({ p2p }: Pick<TestRoom, 'p2p'>, to: string): boolean =>
    p2p.peers().some(({ id, subscribed }) => id === to && subscribed)
  await until(() => isSubscribed(near.mesh, far.id) && isSubscribed(stranger, near.id))

  const random = createSeededRandom('rubbish')
  for (const block of chain) {
    const { seal } = sealBlock(block, second, network)
    const message = new Uint8Array(encodeSealedBlock([seal], random.bytes(200)))
    await stranger.p2p.publish(message)
  }
  await until(() => near.mesh.p2p.peers().every(({ id }) => id !== stranger.id))
  assert.deepEqual(new Set(faultsOf(near)), new Set([stranger.id]))
  assert.deepEqual(faultsOf(far), [])
  assert.ok(isSubscribed(near.mesh, far.id))
})
