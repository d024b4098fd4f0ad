/**
 * Peers without an accepted key that send hostile messages to one Host, each from an address of its own and
 * with a fresh peer key whenever it is cut off. They gossip blocks and heads, announce every height and
 * answer what they are asked. A program of its own, so that the Host's memory can be measured apart from theirs.
 * With `keys` as the fifth argument each message is good and signed by a key of its own instead.
 * Tells on standard output how many messages it has sent, and ends with the program that began it.
 */
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { RPC } from '@libp2p/gossipsub/message'
import type { Stream } from '@libp2p/interface'
import { type LengthPrefixedStream, lpStream } from '@libp2p/utils'
import { topicOf } from '../../../src/p2p/gossip/gossip.ts'
import {
  decodeClientFrame,
  encodeClientFrame,
  encodeServerFrame,
} from '../../../src/p2p/range/range-frames.ts'
import { requestProtocol } from '../../../src/p2p/streams/requests.ts'
import { maxInt } from '../../../src/primitives/bounds.ts'
import {
  decodeVoteRequest,
  encodeDigestsAnswer,
  encodeHeadsAnswer,
  groupOf,
  type VoteRequest,
} from '../../../src/primitives/vote-exchange.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { sealBlock, testSigner } from '../../support/chain/sealed-blocks.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import {
  gossipProtocol,
  lengthPrefixed,
  openRawPeer,
  type RawPeer,
} from '../../support/raw-peer.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { createHostileMessages, createManyKeys, type HostileKind } from './hostile-messages.ts'

const network = 'Local__Devnet'
const everything = { tail: 0, head: maxInt }
const [target = '', signerName = '', blockCount = '1', peers = '1', what = 'hostile'] =
  process.argv.slice(2)

const random = createSeededRandom('message-storm')
const signer = testSigner(signerName, 'Ed25519')
const blocks = createChain({ count: Number(blockCount), from: 1, shape: shapes.tiny }).map(
  (block) => sealBlock(block, signer, network),
)
const heads = blocks.map(({ number, hash }) =>
  headMessage(signer, { network, number, hash, sequence: number }),
)
const honest = { network, blocks, heads }
const next =
  what === 'keys' ? createManyKeys(random, honest) : createHostileMessages(random, honest)
let sent = 0

function nextOf(kind: HostileKind): Uint8Array {
  for (;;) {
    const message = next()
    if (message.kind === kind) return message.bytes
  }
}

/** Waits while the other side does not read. */
async function send(stream: Stream, bytes: Uint8Array): Promise<void> {
  if (!stream.send(bytes)) await stream.onDrain()
}

async function gossip(peer: RawPeer): Promise<void> {
  const stream = await peer.open(target, gossipProtocol)
  for (let turn = 0; turn < 200; turn += 1) {
    const messages = Array.from({ length: 10 }, () => {
      const kind = random.int(3) === 0 ? 'head' : 'block'
      return { topic: topicOf(network, kind), data: nextOf(kind) }
    })
    await send(stream, lengthPrefixed(RPC.encode({ subscriptions: [], messages })))
    sent += messages.length
  }
}

async function announce(peer: RawPeer): Promise<void> {
  const frames = await peer.range(target)
  const request = {
    kind: 'request',
    from: 1,
    to: 0,
    windowBytes: 1 << 20,
    status: everything,
  } as const
  await frames.write(encodeClientFrame(request))
}

async function answerRange(frames: LengthPrefixedStream): Promise<void> {
  const request = decodeClientFrame((await frames.read()).subarray())
  if (request.kind !== 'request') return
  await frames.write(encodeServerFrame({ kind: 'status', status: everything }))
  for (let height = request.from; height <= Math.min(request.to, request.from + 20); height += 1) {
    const bytes = nextOf('block')
    await frames.write(
      encodeServerFrame({ kind: 'block', height, blockBytes: bytes.length, bytes }),
    )
    sent += 1
  }
}

function answerOf(request: VoteRequest): Uint8Array {
  if (request.kind === 'seals') return nextOf('seals')
  if (request.kind === 'heads')
    return encodeHeadsAnswer(request.identities.slice(0, 20).map(() => nextOf('head')))
  const group = groupOf(request.from)
  const digest = random.bytes(16).toString('hex')
  return encodeDigestsAnswer(request.identities.map((identity) => ({ identity, group, digest })))
}

async function answerVotes(frames: LengthPrefixedStream): Promise<void> {
  await frames.write(answerOf(decodeVoteRequest((await frames.read()).subarray())))
  sent += 1
}

/** One peer after the other, each until it is cut off. */
async function play(place: number): Promise<never> {
  for (let life = 0; ; life += 1) {
    const closing: (() => unknown)[] = []
    const from = `127.0.${1 + place}.${1 + (life % 250)}`
    const peer = await openRawPeer({ after: (close) => closing.push(close) }, { from })
    try {
      await peer.serveRange(answerRange)
      await peer.take(requestProtocol(network, 'votes'), (stream) => answerVotes(lpStream(stream)))
      await peer.dial(target)
      await announce(peer)
      await gossip(peer)
    } catch {
      await delay(100)
    }
    for (const close of closing) await close()
  }
}

process.on('uncaughtException', () => undefined)
process.on('unhandledRejection', () => undefined)
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit()
  process.stdout.write(`${sent}\n`)
}, 100)
for (let place = 0; place < Number(peers); place += 1) void play(place)
