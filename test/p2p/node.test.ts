import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify } from '@libp2p/identify'
import type { Libp2p } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { createPeerSweep } from '../../src/p2p/node.ts'
import { openRawPeer } from '../support/raw-peer.ts'

async function openNode(t: TestContext): Promise<Libp2p> {
  const node = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() },
  })
  t.after(() => node.stop())
  return node
}

test('peers that have gone are forgotten, unless they are to be kept or are back', async (t) => {
  const node = await openNode(t)
  const kept = await openRawPeer(t)
  const { gone, sweep } = createPeerSweep(node, (peer) => peer === kept.id)
  const address = String(node.getMultiaddrs()[0])
  const visitor = await openRawPeer(t)
  const back = await openRawPeer(t)
  for (const peer of [kept, visitor, back]) {
    const identified = once(node, 'peer:identify')
    const connection = await peer.dial(address)
    await identified
    if (peer !== back) {
      const left = once(node, 'peer:disconnect')
      await connection.close()
      await left
    }
  }
  const known = async (): Promise<string[]> => {
    const peers = await node.peerStore.all()
    return peers.map(({ id }) => id.toString()).filter((id) => id !== node.peerId.toString())
  }
  for (const { id } of await node.peerStore.all()) if (!id.equals(node.peerId)) gone(id)
  assert.equal((await known()).length, 3)
  await sweep()
  assert.deepEqual((await known()).sort(), [kept.id, back.id].sort())
})

test('the 64th peer that has gone is worth a sweep, and no other; none is left to the next', async (t) => {
  const node = await openNode(t)
  const asked: string[] = []
  const { gone, sweep } = createPeerSweep(node, (peer) => asked.push(peer) > 0)
  const ids = await Promise.all(
    Array.from({ length: 65 }, async () => peerIdFromPrivateKey(await generateKeyPair('Ed25519'))),
  )
  const worth = ids.map((id) => gone(id))
  assert.deepEqual([worth[63], worth.filter((isWorth) => isWorth).length], [true, 1])
  await sweep()
  await sweep()
  assert.deepEqual(asked, ids.map(String))
})
