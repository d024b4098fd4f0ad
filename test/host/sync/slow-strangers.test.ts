/** Strangers that take their time with the blocks that they are asked for. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { RPC } from '@libp2p/gossipsub/message'
import { type MessageKind, topicOf } from '../../../src/p2p/gossip/gossip.ts'
import {
  decodeClientFrame,
  encodeClientFrame,
  encodeServerFrame,
} from '../../../src/p2p/range/range-frames.ts'
import { encodeSealedBlock } from '../../../src/primitives/sealed-block.ts'
import { type ChainBlock, createChain, shapes } from '../../support/chain/block-factory.ts'
import { sealBlock, testSigner } from '../../support/chain/sealed-blocks.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { until } from '../../support/p2p-room.ts'
import { gossipProtocol, lengthPrefixed, openRawPeer } from '../../support/raw-peer.ts'
import { openTestGenerator, type TestGenerator } from '../../support/test-generator.ts'
import { storedChain } from '../../support/test-store.ts'
import { openTestHost, type TestHost } from '../support/test-host.ts'

const network = 'Local__Devnet'
const mallory = testSigner('mallory', 'Ed25519')

interface Stranger {
  readonly id: string
  gossip(kind: MessageKind, data: Uint8Array): void
  /** Resolves when it is asked for blocks and has sent one. */
  readonly isAsked: Promise<void>
  /** How many answers the Host called off. */
  calledOff(): number
}

/**
 * A stranger that says it has everything. To each question for blocks it sends one that it sealed itself, which is of
 * no use to anybody, and then nothing.
 */
async function openStranger(
  t: TestContext,
  host: TestHost,
  chain: readonly ChainBlock[],
): Promise<Stranger> {
  const peer = await openRawPeer(t, { from: '127.0.0.2' })
  const status = { tail: 1, head: 2 ** 31 - 1 }
  const asked = Promise.withResolvers<void>()
  let calledOff = 0
  await peer.serveRange(async (frames) => {
    const request = decodeClientFrame((await frames.read()).subarray())
    if (request.kind !== 'request') return
    await frames.write(encodeServerFrame({ kind: 'status', status }))
    const block = chain.find(({ number }) => number === request.from)
    if (block === undefined || request.from > request.to) {
      await frames.write(encodeServerFrame({ kind: 'end', blocks: 0 }))
      return
    }
    const { bytes } = sealBlock(block, mallory, network)
    const blockBytes = bytes.length
    await frames.write(
      encodeServerFrame({ kind: 'block', height: request.from, blockBytes, bytes }),
    )
    asked.resolve()
    await frames.read().catch(() => undefined)
    calledOff += 1
  })
  await peer.dial(host.address)
  const range = await peer.range(host.address)
  await range.write(
    encodeClientFrame({ kind: 'request', from: 1, to: 0, windowBytes: 1 << 20, status }),
  )
  const stream = await peer.open(host.address, gossipProtocol)
  await until(() => host.mesh.p2p.peers().some(({ id, announced }) => id === peer.id && announced))
  return {
    id: peer.id,
    isAsked: asked.promise,
    calledOff: () => calledOff,
    gossip: (kind, data) => {
      const messages = [{ topic: topicOf(network, kind), data }]
      stream.send(lengthPrefixed(RPC.encode({ subscriptions: [], messages })))
    },
  }
}

/** The newest head of a Generator, as a message. */
function headOf({ signer, chain }: TestGenerator, sequence: number): Uint8Array {
  const { number, hash } = [...chain.values()].at(-1) ?? assert.fail('no blocks')
  return headMessage(signer, { network, number, hash, sequence })
}

test('a stranger that sends no block of use keeps nothing of a configured Generator away', async (t) => {
  const chain = createChain({ count: 200, from: 1, shape: shapes.empty })
  const honest = await openTestGenerator(t, 'honest', chain)
  const host = await openTestHost(t, { env: { HOST_TRUSTED_SIGNERS: honest.signer.identity } })
  const stranger = await openStranger(t, host, chain)
  stranger.gossip('head', headOf(honest, 5))
  await stranger.isAsked

  host.setBootstrapPeers([honest.room.address])
  await host.reached(200)
  assert.equal(storedChain(host.reader).length, 200)
  assert.equal(stranger.calledOff(), 0, 'it still takes its time')
})

test('a stranger that is first with head and seals is not the only peer asked for the block', async (t) => {
  const chain = createChain({ count: 21, from: 1, shape: shapes.tiny })
  const honest = await openTestGenerator(t, 'honest', chain.slice(0, 20))
  const host = await openTestHost(t, {
    peers: [honest.room.address],
    env: { HOST_TRUSTED_SIGNERS: honest.signer.identity },
  })
  await host.reached(20)
  await until(() =>
    honest.room.p2p.peers().some(({ id, subscribed }) => id === host.id && subscribed),
  )
  const stranger = await openStranger(t, host, chain)
  const [sealed] = honest.add(chain.slice(20))
  assert.ok(sealed !== undefined)
  const head = headOf(honest, Date.now() + 1_000)
  const seals = new Uint8Array(encodeSealedBlock([sealed.seal], null))
  stranger.gossip('head', head)
  stranger.gossip('block', seals)
  const raised = (): boolean =>
    host.mesh.p2p.peers().some(({ id, verified }) => id === stranger.id && verified)
  await until(raised)

  await honest.room.p2p.publishHead(head)
  await honest.room.p2p.publish(seals)
  await host.reached(21)
  assert.equal(stranger.calledOff(), 0, 'nobody waited for it to be called off')
})

test('a peer that sends no block of use for long enough is left for another, a stranger too', async (t) => {
  const chain = createChain({ count: 20, from: 1, shape: shapes.empty })
  const honest = await openTestGenerator(t, 'honest', chain)
  const host = await openTestHost(t, {
    env: { HOST_TRUSTED_SIGNERS: honest.signer.identity },
    uselessMs: 500,
  })
  const stranger = await openStranger(t, host, chain)
  stranger.gossip('head', headOf(honest, 5))
  await stranger.isAsked

  honest.room.p2p.setBootstrapPeers([host.address])
  const { err } = await host.captured.line('missing blocks pulled')
  assert.equal(
    (err as { readonly message: string }).message,
    'pulling blocks failed: the peer sent no block of use for 0.5 seconds',
  )
  await host.reached(20)
  assert.equal(storedChain(host.reader).length, 20)
})
