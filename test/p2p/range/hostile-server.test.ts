import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Stream } from '@libp2p/interface'
import type { LengthPrefixedStream } from '@libp2p/utils'
import { ServiceError } from '../../../src/errors.ts'
import { type Fault, faultWeights } from '../../../src/p2p/limits/fault.ts'
import type { P2pLimits } from '../../../src/p2p/limits/limits.ts'
import {
  decodeClientFrame,
  encodeServerFrame,
  type ServerFrame,
} from '../../../src/p2p/range/range-frames.ts'
import { openRoom, type TestRoom, until } from '../../support/p2p-room.ts'
import { openRawPeer } from '../../support/raw-peer.ts'

interface Trick {
  readonly fault: Fault
  readonly limits?: Partial<P2pLimits>
  /** What the server does after its status. */
  answer(frames: LengthPrefixedStream, stream: Stream): Promise<void>
}

const status: ServerFrame = { kind: 'status', status: { tail: 0, head: 9 } }
const bytes = new Uint8Array(10)

function block(height: number, blockBytes = bytes.byteLength): ServerFrame {
  return { kind: 'block', height, blockBytes, bytes }
}

/** Sends the frames and waits for what the other side makes of them. */
function frames(...list: readonly ServerFrame[]): Trick['answer'] {
  return async (out) => {
    for (const frame of list) await out.write(encodeServerFrame(frame))
  }
}

const tricks: Readonly<Record<string, Trick>> = {
  'blocks in falling order': {
    fault: 'protocol violation',
    answer: frames(block(3), block(2)),
  },
  'a block that was not asked for': { fault: 'protocol violation', answer: frames(block(50)) },
  'a wrong count at the end': {
    fault: 'protocol violation',
    answer: frames(block(1), { kind: 'end', blocks: 2 }),
  },
  'a part without a block': {
    fault: 'protocol violation',
    answer: frames({ kind: 'part', bytes }),
  },
  'a block that is left unfinished for the next': {
    fault: 'protocol violation',
    answer: frames(block(1, 20), block(2)),
  },
  'parts longer than the block': {
    fault: 'protocol violation',
    answer: frames(block(1, 15), { kind: 'part', bytes }),
  },
  'parts without content': {
    fault: 'protocol violation',
    answer: frames(block(1, 15), { kind: 'part', bytes: new Uint8Array() }),
  },
  'a block said to be larger than any may be': {
    fault: 'oversize frame',
    answer: frames(block(1, 2 ** 32 - 1)),
  },
  'a frame of unbounded length': {
    fault: 'oversize frame',
    answer: async (_, stream) => {
      stream.send(Uint8Array.of(0xff, 0xff, 0xff, 0x7f))
    },
  },
  'garbage frames': {
    fault: 'malformed frame',
    answer: async (out) => out.write(Uint8Array.of(77, 1, 2)),
  },
  'more bytes than were granted': {
    fault: 'protocol violation',
    limits: { windowBytes: 128 * 1024, maxFrameBytes: 64 * 1024 },
    answer: async (_, stream) => {
      stream.send(new Uint8Array(300_000))
    },
  },
  'silence after the status': {
    fault: 'stalled writer',
    limits: { pullStallMs: 800 },
    answer: async () => {},
  },
  'a block byte by byte': {
    fault: 'protocol violation',
    answer: frames(block(1, 15), { kind: 'part', bytes: Uint8Array.of(0) }),
  },
  'a block a KiB at a time, slowly': {
    fault: 'stalled writer',
    limits: { pullStallMs: 300 },
    answer: async (out, stream) => {
      const kib = new Uint8Array(1024)
      await out.write(
        encodeServerFrame({ kind: 'block', height: 1, blockBytes: 2 ** 20, bytes: kib }),
      )
      while (stream.status === 'open') {
        await out.write(encodeServerFrame({ kind: 'part', bytes: kib }))
        await delay(20)
      }
    },
  },
  'silence in the middle of a block': {
    fault: 'stalled writer',
    limits: { pullStallMs: 800 },
    answer: frames({ kind: 'block', height: 1, blockBytes: 2048, bytes: new Uint8Array(1024) }),
  },
}

for (const [name, trick] of Object.entries(tricks)) {
  test(`a server that sends ${name}: the pull fails, and after so many the peer is cut off`, async (t) => {
    const { fault, limits = {} } = trick
    const enough = Math.ceil(100 / faultWeights[fault])
    const room = await openRoom(t, { limits: { ...limits, pullsPerPeer: enough } })
    const peer = await serverWith(t, room, trick)
    const pulls = Array.from({ length: enough }, () => pullFailure(room, peer))
    for (const facts of await Promise.all(pulls)) assert.equal(facts['fault'], fault)
    await until(() => room.p2p.peers().length === 0)
    assert.equal(await room.metric('viewmesh_p2p_faults_total', { fault }), enough)
    const banned = await room.captured.line('peer disconnected and banned')
    assert.deepEqual([banned['peer'], banned['reason']], [peer, fault])
  })
}

test('a server that only resets its streams is no fault, but the pull fails', async (t) => {
  const room = await openRoom(t)
  const peer = await serverWith(t, room, {
    fault: 'reported',
    answer: async (_, stream) => stream.abort(new Error('no')),
  })
  assert.equal((await pullFailure(room, peer))['fault'], null)
  assert.equal(room.p2p.peers()[0]?.score, 0)
})

test('one honest server beside a stalled one: its blocks arrive meanwhile', async (t) => {
  const room = await openRoom(t, { limits: { pullStallMs: 1000 } })
  const honest = await openRoom(t)
  honest.blocks.set(0, randomBytes(1000))
  const peer = await serverWith(t, room, { fault: 'stalled writer', answer: async () => {} })
  const stalled = pullFailure(room, peer)
  const announced = room.event('announced', honest.id)
  room.p2p.setBootstrapPeers([honest.address])
  await announced
  for await (const received of room.p2p.pull(honest.id, 0, 9, AbortSignal.timeout(60_000))) {
    assert.deepEqual(Buffer.from(received), honest.blocks.get(0))
  }
  assert.equal((await stalled)['fault'], 'stalled writer')
})

/** A raw peer with this trick, connected to the room. Resolves with its ID. */
async function serverWith(t: TestContext, room: TestRoom, trick: Trick): Promise<string> {
  const peer = await openRawPeer(t)
  await peer.serveRange(async (out, stream) => {
    const request = decodeClientFrame((await out.read()).subarray())
    await out.write(encodeServerFrame(status))
    if (request.kind === 'request' && request.from <= request.to) await trick.answer(out, stream)
    else await out.write(encodeServerFrame({ kind: 'end', blocks: 0 }))
  })
  const connected = room.event('connected', peer.id)
  await peer.dial(room.address)
  await connected
  await until(() => room.p2p.peers()[0]?.announced !== null)
  return peer.id
}

/** The facts of the error that a pull ends with. */
async function pullFailure(
  room: TestRoom,
  peer: string,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    for await (const _ of room.p2p.pull(peer, 0, 9, AbortSignal.timeout(60_000)));
  } catch (error) {
    assert(error instanceof ServiceError)
    assert.equal(error.code, 'P2P_PULL_FAILED')
    return error.facts
  }
  throw new Error('the pull ended without an error')
}
