/** What the stream of a Host may be made of: a welcome and rows in parts, and what comes between these. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  followHost,
  type ReceivedBlock,
  type StreamEnd,
  type StreamListener,
  type Welcome,
} from '../../../src/app/follow/host-stream.ts'
import { ServiceError } from '../../../src/errors.ts'
import { followLimits } from '../../../src/follow/follow-limits.ts'
import {
  encodeHostFrame,
  type HostFrame,
  type RowsFrame,
  type WelcomedView,
} from '../../../src/follow/host-frames.ts'
import {
  type ApplicationFrame,
  decodeApplicationFrame,
  type FollowedBlock,
} from '../../../src/follow/open-frames.ts'
import { createSigner } from '../../../src/identity/signature.ts'
import { proveIdentity } from '../../../src/mesh/identity-proof.ts'
import type { P2p } from '../../../src/p2p/p2p.ts'
import type { Channel } from '../../../src/p2p/streams/channels.ts'
import type { IdentityStatement } from '../../../src/primitives/identity-proof.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { connect, openRoom, testNetwork, until } from '../../support/p2p-room.ts'

const signer = createSigner({ type: 'Ed25519', privateKey: new Uint8Array(32).fill(5) })
const views = ['one', 'another', 'a third'].map((name) => namedHash(`the View ${name}`))
const [view = '', other = ''] = views
const mebibyte = 1024 * 1024

interface Heard {
  readonly welcomes: Welcome[]
  readonly blocks: ReceivedBlock[]
  readonly retracts: (FollowedBlock | null)[]
  readonly heads: number[]
}

interface Followed {
  readonly heard: Heard
  /** Bytes of credit that the Host got, each time that it got some. */
  readonly granted: readonly number[]
  /** What the stream ends with. */
  readonly end: Promise<StreamEnd>
}

/**
 * Follows a Host that sends these frames, and then that it stops; without a welcome among them one comes first. It proves
 * what it is unless that is changed.
 */
async function follow(
  t: TestContext,
  frames: readonly HostFrame[],
  proven: Partial<IdentityStatement> = {},
): Promise<Followed> {
  const granted: number[] = []
  const host = await openRoom(t, {
    channels: {
      views: {
        busy: encodeHostFrame({ kind: 'error', error: 'busy', tail: null }),
        serve: async (channel) => {
          await channel.read()
          void collectCredit(channel, granted)
          const proof = proveIdentity(signer, {
            network: testNetwork,
            role: 'host',
            peerId: host.id,
            ...proven,
          })
          const all = frames[0]?.kind === 'welcome' ? frames : [welcome(views), ...frames]
          for (const frame of [...all, last])
            await channel.write(encodeHostFrame('proof' in frame ? { ...frame, proof } : frame))
        },
      },
    },
  })
  const application = await openRoom(t)
  await connect(application, host)
  const heard: Heard = { welcomes: [], blocks: [], retracts: [], heads: [] }
  const nothing = async (): Promise<void> => undefined
  const listener: StreamListener = {
    onWelcome: async (said) => void heard.welcomes.push(said),
    onBlock: async (block) => void heard.blocks.push(block),
    onStatement: nothing,
    onVotes: nothing,
    onSeals: nothing,
    onRetract: (_, place) => void heard.retracts.push(place),
    onHead: ({ number }) => void heard.heads.push(number),
  }
  const asked = views.map((each) => ({ view: each, cursor: [], withRows: true }))
  const end = followHost(
    { peer: host.id, network: testNetwork, views: asked, from: 0 },
    { p2p: application.p2p, listener, signal: AbortSignal.timeout(60_000) },
  )
  return { heard, granted, end }
}

async function collectCredit(channel: Channel, granted: number[]): Promise<void> {
  while (!channel.ended.aborted) {
    const bytes = await channel.read(null).catch(() => null)
    const frame = bytes && decodeApplicationFrame(bytes)
    if (frame?.kind === 'credit') granted.push(frame.bytes)
  }
}

function welcome(ids: readonly string[], sdlLength = 20): HostFrame {
  const welcomed = ids.map((id, index) => welcomedView(id, `${index}`.repeat(sdlLength)))
  return { kind: 'welcome', proof: new Uint8Array(0), genesis: null, views: welcomed }
}

function welcomedView(id: string, sdl: string): WelcomedView {
  return { view: id, name: 'Payment', sdl, tail: 0, head: 9, state: 'live' }
}

/** A part of the rows of a block; `branch` is another one with other rows. */
function part(
  index: number,
  {
    of = view,
    number = 5,
    branch = 'a',
    bytes = Buffer.from(`${branch}${index}`),
    last = false,
  } = {},
): RowsFrame {
  const place = {
    view: of,
    number,
    hash: namedHash(`${branch} ${number}`),
    parent: namedHash('below'),
  }
  return { kind: 'rows', ...place, count: 7, part: index, last, bytes }
}

test('rows are in memory of their own, so that none of a frame is kept with them', async (t) => {
  const one = part(0, { last: true, bytes: Buffer.alloc(150, 1) })
  const { heard, end } = await follow(t, [one])
  await end
  const { bytes } = heard.blocks[0]?.rows ?? assert.fail('a block came')
  assert.equal(bytes.length, 150)
  assert.equal(bytes.buffer.byteLength, 150)
})

const places = (heard: Heard): string[] =>
  heard.blocks.map(({ view: of, hash, rows }) => {
    const branch = ['a', 'b'].find((each) => hash === namedHash(`${each} 5`))
    return `${views.indexOf(of)} ${branch} ${Buffer.from(rows?.bytes ?? '')}`
  })

const below = { number: 4, hash: namedHash('below') }
const head: HostFrame = { kind: 'head', number: 6, hash: namedHash('a 6') }
const retract = (of: string): HostFrame => ({ kind: 'retract', view: of, place: below })
const last: HostFrame = { kind: 'error', error: 'unavailable', tail: null }
const isOver = last

test('a welcome in several frames is put together in the order of the Views', async (t) => {
  const long = 600_000
  const [first, ...rest] = views.map((id) => welcome([id], long))
  assert.ok(first !== undefined && 3 * long > followLimits.frameBytes)
  const { heard, end } = await follow(t, [first, ...rest])
  assert.deepEqual(await end, isOver)
  const [said] = heard.welcomes
  assert.deepEqual(
    said?.views,
    views.map((id) => welcomedView(id, '0'.repeat(long))),
  )
  assert.equal(said?.identity, signer.identity)
})

const welcomes: Readonly<Record<string, readonly HostFrame[]>> = {
  'has a frame without a View': [welcome([view]), welcome([]), welcome(views.slice(1))],
  'is of another order': [welcome([other, view]), welcome(views.slice(2))],
  'names a View more than it was asked for': [welcome([view]), welcome([...views.slice(1), view])],
  'is not whole before something else comes': [welcome([view]), head],
}
for (const [what, frames] of Object.entries(welcomes))
  test(`a welcome that ${what} ends the stream`, async (t) => {
    const { heard, end } = await follow(t, frames)
    await assert.rejects(end, { code: 'APP_HOST_REFUSED' })
    assert.deepEqual(heard.welcomes, [])
  })

test('a welcome that proves another role, network or peer ends the stream', async (t) => {
  for (const proven of [
    { role: 'generator' },
    { network: 'Ethereum__Sepolia' },
    { peerId: 'another peer' },
  ] as const) {
    const { heard, end } = await follow(t, [], proven)
    await assert.rejects(end, { code: 'APP_HOST_REFUSED', message: /a proof of identity/ })
    assert.deepEqual(heard.welcomes, [])
  }
})

test('a welcome that comes once more ends the stream', async (t) => {
  const { heard, end } = await follow(t, [welcome(views), welcome(views)])
  await assert.rejects(end, { code: 'APP_HOST_REFUSED', message: /a frame at the wrong time/ })
  assert.equal(heard.welcomes.length, 1)
})

test('a head between the parts of a block is taken, and the block is whole', async (t) => {
  const { heard, end } = await follow(t, [part(0), head, part(1), part(2, { last: true })])
  assert.deepEqual(await end, isOver)
  assert.deepEqual(places(heard), ['0 a a0a1a2'])
  assert.deepEqual(heard.heads, [6])
})

test('parts of a block that gave way are dropped, and the block of the other branch is whole', async (t) => {
  const branch = 'b'
  const { heard, end } = await follow(t, [
    ...[part(0), part(1), retract(view)],
    ...[part(0, { branch }), part(1, { branch, last: true })],
  ])
  assert.deepEqual(await end, isOver)
  assert.deepEqual(heard.retracts, [below])
  assert.deepEqual(places(heard), ['0 b b0b1'])
})

test('what gave way of another View leaves the parts of a block', async (t) => {
  const { heard, end } = await follow(t, [part(0), retract(other), part(1, { last: true })])
  assert.deepEqual(await end, isOver)
  assert.deepEqual(places(heard), ['0 a a0a1'])
})

const strangers: Readonly<Record<string, readonly HostFrame[]>> = {
  'a statement': [{ kind: 'statement', excerpt: new Uint8Array(9) }],
  votes: [{ kind: 'votes', excerpts: [new Uint8Array(9)] }],
  seals: [{ kind: 'seals', ...below, seals: [] }],
  'a failed block': [
    { kind: 'failed', view: other, number: 5, hash: namedHash('a 5'), parent: below.hash },
  ],
  'a welcome': [welcome(views)],
  'a part of another View': [part(1, { of: other })],
  'a part of another block': [part(1, { number: 6 })],
  'a part of another branch': [part(1, { branch: 'b' })],
  'a part at another height': [{ ...part(1), number: 6 }],
  'a part of more rows': [{ ...part(1), count: 8 }],
  'the same part': [part(0)],
  'the part after the next': [part(2)],
  'the next part of what gave way': [retract(view), part(1, { last: true })],
}
for (const [what, frames] of Object.entries(strangers))
  test(`${what} between the parts of a block ends the stream`, async (t) => {
    const { heard, end } = await follow(t, [part(0), ...frames, part(1, { last: true })])
    const message = /a frame at the wrong time|parts of rows that do not fit/
    await assert.rejects(end, { code: 'APP_HOST_REFUSED', message })
    assert.deepEqual(heard.blocks, [])
  })

test('packed rows of a block take 16 MiB, and one byte more ends the stream', async (t) => {
  const parts = (length: number): RowsFrame[] =>
    Array.from({ length: Math.ceil(length / followLimits.partBytes) }, (_, index) => {
      const left = length - index * followLimits.partBytes
      const bytes = Buffer.alloc(Math.min(followLimits.partBytes, left), index)
      return part(index, { bytes, last: left <= followLimits.partBytes })
    })
  const full = parts(16 * mebibyte)
  // What counts is the rows of one block: the next may have as many, also after one that gave way.
  const left = [...full.slice(0, 2), retract(view)]
  const { heard, end } = await follow(t, [...full, ...left, ...full])
  assert.deepEqual(await end, isOver)
  assert.deepEqual(
    heard.blocks.map(({ rows }) => rows?.bytes.length),
    [16 * mebibyte, 16 * mebibyte],
  )
  const larger = await follow(t, parts(16 * mebibyte + 1))
  await assert.rejects(larger.end, { code: 'APP_HOST_REFUSED', message: /parts of rows/ })
  assert.deepEqual(larger.heard.blocks, [])
})

test('a Host gets credit for what was taken once that is half the window, and only then', async (t) => {
  const large = { bytes: Buffer.alloc(followLimits.partBytes), last: true }
  const one = part(0, large)
  const two = part(0, { ...large, branch: 'b' })
  const once = await follow(t, [one, head])
  assert.deepEqual(await once.end, isOver)
  assert.deepEqual(once.granted, [])
  const twice = await follow(t, [one, head, two, head])
  assert.deepEqual(await twice.end, isOver)
  await until(() => twice.granted.length > 0)
  const taken = encodeHostFrame(one).length + encodeHostFrame(two).length
  assert.deepEqual(twice.granted, [taken])
})

interface InMemory {
  readonly peer: string
  /** The channel that was opened, and what was written on it. */
  readonly opened: readonly unknown[]
  readonly written: readonly ApplicationFrame[]
  /** How long each frame was waited for. */
  readonly silencesMs: ReadonlySet<number | null | undefined>
  readonly penalised: readonly unknown[]
  readonly ended: AbortSignal
  readonly end: Promise<StreamEnd>
}

const asked = views.map((id) => ({ view: id, cursor: [below], withRows: id === view }))

/** Follows a Host that has sent a welcome and these frames before it is asked. */
function followInMemory(
  frames: readonly HostFrame[],
  listener: Partial<StreamListener> = {},
): InMemory {
  const peer = 'a peer'
  const proof = proveIdentity(signer, { network: testNetwork, role: 'host', peerId: peer })
  const left = [{ ...welcome(views), proof }, ...frames].map((frame) => encodeHostFrame(frame))
  const ended = new AbortController()
  const opened: unknown[] = []
  const written: ApplicationFrame[] = []
  const silencesMs = new Set<number | null | undefined>()
  const penalised: unknown[] = []
  const channel: Channel = {
    ended: ended.signal,
    read: async (silenceMs) => {
      silencesMs.add(silenceMs)
      return left.shift() ?? assert.fail('it said all')
    },
    write: async (bytes) => void written.push(decodeApplicationFrame(bytes)),
    close: async () => undefined,
    abort: (error) => ended.abort(error),
  }
  const p2p: Pick<P2p, 'openChannel' | 'penalise'> = {
    openChannel: async (to, name, options) => {
      opened.push(to, name, options)
      return channel
    },
    penalise: (...fault) => void penalised.push(...fault),
  }
  const nothing = async (): Promise<void> => undefined
  const ignoring: StreamListener = {
    ...{ onWelcome: nothing, onBlock: nothing, onStatement: nothing, onVotes: nothing },
    ...{ onSeals: nothing, onRetract: () => undefined, onHead: () => undefined },
  }
  const end = followHost(
    { peer, network: testNetwork, views: asked, from: 3 },
    { p2p, listener: { ...ignoring, ...listener }, signal: new AbortController().signal },
  )
  return { peer, opened, written, silencesMs, penalised, ended: ended.signal, end }
}

test('a Host is told what to send, may be silent for 45 s, and is left once it stops', async () => {
  const { peer, opened, written, silencesMs, ended, end } = followInMemory([head, last])
  assert.deepEqual(await end, isOver)
  assert.deepEqual(opened, [peer, 'views', { windowBytes: 2 * mebibyte }])
  assert.deepEqual(written, [{ kind: 'open', views: asked, from: 3, windowBytes: 2 * mebibyte }])
  assert.deepEqual([silencesMs, ended.aborted], [new Set([45_000]), true])
})

test('credit is due for a mebibyte of frames, and not for a byte less', async () => {
  const one = (length: number): HostFrame => part(0, { last: true, bytes: Buffer.alloc(length) })
  const half = 500_000
  const others = encodeHostFrame(one(half)).length * 2 - half
  const grantedFor = async (bytes: number): Promise<readonly ApplicationFrame[]> => {
    const { written, end } = followInMemory([one(half), one(bytes - others), head, last])
    await end
    return written.slice(1)
  }
  assert.deepEqual(await grantedFor(mebibyte - 1), [])
  assert.deepEqual(await grantedFor(mebibyte), [{ kind: 'credit', bytes: mebibyte }])
})

test('a Host is penalised for a malformed row, and not for what fails in the application', async () => {
  const followed = (thrown: Error): InMemory =>
    followInMemory([part(0, { last: true }), last], { onBlock: () => Promise.reject(thrown) })
  const row = followed(new ServiceError('VIEWS_ROW_MALFORMED', 'a row is cut off'))
  await assert.rejects(row.end, {
    code: 'APP_HOST_REFUSED',
    message: 'a Host breaks the protocol: a row is cut off',
    facts: { peer: row.peer },
  })
  assert.deepEqual([row.penalised, row.ended.aborted], [[row.peer, 'a row is cut off'], true])
  const failed = new ServiceError('STORE_WRITE_FAILED', 'the disk is full')
  const disk = followed(failed)
  await assert.rejects(disk.end, failed)
  assert.deepEqual([disk.penalised, disk.ended.aborted], [[], true])
})
