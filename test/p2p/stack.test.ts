/** What the parts of a node do together that no peer sees. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { defaultLimits } from '../../src/p2p/limits/limits.ts'
import { startNode } from '../../src/p2p/node.ts'
import { createOwnAddresses } from '../../src/p2p/peers/own-addresses.ts'
import { assembleStack, closeStack, connectStack } from '../../src/p2p/stack.ts'
import { captureLog } from '../support/captured-log.ts'
import { testNetwork, until } from '../support/p2p-room.ts'
import { openRawPeer } from '../support/raw-peer.ts'

test('a peer that has gone is forgotten when the others are asked for their heights', async (t) => {
  const { log } = captureLog()
  const listen = ['/ip4/127.0.0.1/tcp/0']
  const limits = { ...defaultLimits, statusIntervalMs: 20 }
  const options = { peerSeed: randomBytes(32), listen, network: testNetwork, limits }
  const source = { range: () => null, heights: () => [], sealedBlock: () => null }
  const own = createOwnAddresses(listen, [])
  const parts = { log, registry: new Registry(), source, handlers: {}, channels: {}, own }
  const stack = await assembleStack(options, parts)
  const { node } = stack
  await connectStack(stack, options, log)
  await startNode(node, listen)
  t.after(() => closeStack(stack))
  const isKnown = async (peer: string): Promise<boolean> =>
    (await node.peerStore.all()).some(({ id }) => id.toString() === peer)

  const visitor = await openRawPeer(t)
  const identified = once(node, 'peer:identify')
  const connection = await visitor.dial(String(node.getMultiaddrs()[0]))
  await identified
  assert.equal(await isKnown(visitor.id), true)
  assert.equal(stack.networks.error(visitor.id)?.code, 'P2P_OTHER_NETWORK')
  await connection.close()
  await until(async () => !(await isKnown(visitor.id)))
  assert.equal(stack.networks.error(visitor.id), null)
})
