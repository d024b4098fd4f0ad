/**
 * Hundreds of peers that keep to no rule, dialling from several loopback addresses, with a fresh key
 * whenever one is banned. A program of its own, so that what the room under attack needs can be
 * measured. Tells on standard output how many attacks it made, and ends with the program that began it.
 */
import { randomBytes, randomInt } from 'node:crypto'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { RPC } from '@libp2p/gossipsub/message'
import { topicOf } from '../../../src/p2p/gossip/gossip.ts'
import { encodeClientFrame } from '../../../src/p2p/range/range-frames.ts'
import { requestProtocol } from '../../../src/p2p/streams/requests.ts'
import { testNetwork } from '../../support/p2p-room.ts'
import {
  gossipProtocol,
  lengthOf,
  lengthPrefixed,
  openRawPeer,
  type RawPeer,
} from '../../support/raw-peer.ts'
import { yamuxFrame } from './yamux-frame.ts'

type Attack = (peer: RawPeer, target: string) => Promise<void>

const topic = topicOf(testNetwork, 'block')
const empty = { ihave: [], iwant: [], graft: [], prune: [], idontwant: [] }

function ids(count: number): Uint8Array<ArrayBuffer>[] {
  return Array.from({ length: count }, () => new Uint8Array(randomBytes(32)))
}

function garbage(): Uint8Array {
  const data = new Uint8Array(randomBytes(randomInt(1, 20_000)))
  return RPC.encode({ subscriptions: [{ subscribe: true, topic }], messages: [{ topic, data }] })
}

/** The bytes with a few of them changed. */
function mutated(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes)
  for (let change = 0; change < 3; change += 1) copy[randomInt(copy.length)] = randomInt(256)
  return copy
}

async function gossip(peer: RawPeer, target: string, frames: readonly Uint8Array[]): Promise<void> {
  const stream = await peer.open(target, gossipProtocol)
  for (const frame of frames) stream.send(frame)
}

const attacks: readonly Attack[] = [
  (peer, target) =>
    gossip(
      peer,
      target,
      Array.from({ length: 200 }, () => lengthPrefixed(garbage())),
    ),
  (peer, target) => gossip(peer, target, [lengthPrefixed(mutated(garbage()))]),
  (peer, target) => gossip(peer, target, [mutated(lengthPrefixed(garbage()))]),
  (peer, target) => gossip(peer, target, Array(2000).fill(lengthPrefixed(Uint8Array.of(0x10, 1)))),
  (peer, target) => gossip(peer, target, [lengthOf(4_000_000), randomBytes(500_000)]),
  (peer, target) => {
    const control = {
      ...empty,
      ihave: [{ topicID: topic, messageIDs: ids(500) }],
      iwant: [{ messageIDs: ids(500) }],
    }
    const frame = RPC.encode({ subscriptions: [], messages: [], control })
    return gossip(peer, target, Array(20).fill(lengthPrefixed(frame)))
  },
  async (peer, target) => {
    const frames = await peer.range(target)
    const request = encodeClientFrame({
      kind: 'request',
      from: 0,
      to: 2 ** 31 - 1,
      windowBytes: 2 ** 24,
      status: { tail: 0, head: 2 ** 31 - 1 },
    })
    await frames.write(randomInt(2) === 0 ? request : mutated(request))
    frames.unwrap().pause()
  },
  async (peer, target) => {
    const stream = await peer.open(target, requestProtocol(testNetwork, 'votes'))
    stream.send(lengthPrefixed(randomBytes(randomInt(1, 5000))))
  },
  async (peer, target) => {
    await peer.dial(target)
    peer.sendFrames(randomBytes(randomInt(1, 5000)))
  },
  async (peer, target) => {
    await peer.dial(target)
    const reset = Array.from({ length: 500 }, (_, index) =>
      Buffer.concat([
        yamuxFrame({ type: 'window update', flags: 1, stream: 100_001 + 2 * index, length: 0 }),
        yamuxFrame({ type: 'window update', flags: 8, stream: 100_001 + 2 * index, length: 0 }),
      ]),
    )
    peer.sendFrames(Buffer.concat(reset))
  },
  async (peer, target) => {
    await peer.dial(target)
    peer.sendFrames(
      yamuxFrame({ type: 'data', flags: 1, stream: 77, length: 2 ** 32 - 1 }, randomBytes(60_000)),
    )
  },
]

let made = 0

/** One place of the swarm: a peer that attacks, and another one when it is cut off. */
async function play(target: string, from: string): Promise<never> {
  for (;;) {
    const closing: (() => unknown)[] = []
    const peer = await openRawPeer({ after: (close) => closing.push(close) }, { from })
    try {
      await peer.dial(target)
      for (let attack = 0; attack < 20; attack += 1) {
        await attacks[randomInt(attacks.length)]?.(peer, target)
        made += 1
        await delay(randomInt(50))
      }
    } catch {
      await delay(200)
    }
    for (const close of closing) await close()
  }
}

const [target = '', addresses = '1', each = '1'] = process.argv.slice(2)
process.on('uncaughtException', () => undefined)
process.on('unhandledRejection', () => undefined)
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit()
  process.stdout.write(`${made}\n`)
}, 200)
for (let address = 0; address < Number(addresses); address += 1) {
  for (let peer = 0; peer < Number(each); peer += 1) void play(target, `127.0.1.${address + 1}`)
}
