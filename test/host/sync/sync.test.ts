/** When peers are asked for what is wanted, and what follows from what they bring. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { ServiceError } from '../../../src/errors.ts'
import type { Want } from '../../../src/host/fork-choice/wants.ts'
import { openSync } from '../../../src/host/sync/sync.ts'
import type { P2p } from '../../../src/p2p/p2p.ts'
import { clockOf } from '../../app/support/test-clock.ts'

type Listener = Parameters<P2p['onPeer']>[0]
type Asked = readonly [peer: string, from: number, to: number]

interface Setup {
  readonly uselessMs?: number
  /** What each configured peer announces. Default heights up to 1,000 of the one peer `a`. */
  readonly announced?: Readonly<
    Record<string, { readonly tail: number; readonly head: number } | null>
  >
  /** The newest head of the Generator that peer `a` is. Default none, and it is nobody's. */
  readonly signedHead?: number | null
  /** Blocks that each question brings before it fails with `failure`. Default all of them. */
  readonly blocks?: number
  readonly failure?: ServiceError
  /** Peers send nothing until they are called off. */
  readonly isSilent?: boolean
  /** What is wanted after a pull, or why nobody can say. Default nothing. */
  readonly wants?: () => Promise<readonly Want[]>
}

const wanted = (from: number, to: number, purpose = 'gap'): Want => ({
  from,
  to,
  hash: `of ${to}`,
  root: null,
  purpose,
})
const unreachable = new ServiceError('P2P_PULL_FAILED', 'it went away')

/** Lets everything go on that waits for nothing. */
async function settled(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/** Whatever a peer is asked for, until it is called off. */
async function calledOff(signal: AbortSignal): Promise<never> {
  const stopped = Promise.withResolvers<never>()
  const stop = (): void => stopped.reject(signal.reason)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return stopped.promise
}

function open(t: TestContext, setup: Setup = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = clockOf(t)
  let announced = setup.announced ?? { a: { tail: 0, head: 1_000 } }
  let looks = 0
  let ended = 0
  const asked: Asked[] = []
  const results: string[] = []
  const servedFrom: (number | null)[] = []
  const fatal: unknown[] = []
  const listeners = new Set<Listener>()
  const caughtUp: number[] = []
  async function* pull(peer: string, from: number, to: number, signal?: AbortSignal) {
    asked.push([peer, from, to])
    if (setup.isSilent === true) {
      try {
        await calledOff(signal ?? assert.fail())
      } finally {
        await nextTurn()
        ended += 1
      }
    }
    const end = Math.min(to, from + (setup.blocks ?? 1_000) - 1)
    for (let height = from; height <= end; height++) yield Uint8Array.of(height)
    if (setup.failure !== undefined) throw setup.failure
  }
  const sync = openSync(setup.uselessMs === undefined ? {} : { uselessMs: setup.uselessMs }, {
    log: pino({ enabled: false }),
    metrics: { pulled: (result) => void results.push(result) },
    p2p: {
      peers: () => {
        looks += 1
        return Object.entries(announced).map(([id, range]) => ({
          id,
          announced: range,
          lastAnnouncement: range,
          verified: true,
          score: 0,
          bootstrap: true,
          subscribed: true,
          addresses: [],
        }))
      },
      pull,
      applyVerdict: () => undefined,
      onPeer: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    take: async ([height = assert.fail()]) => ({ kind: 'block', height, isStored: true, seals: 1 }),
    signerOf: (peer) => (peer === 'a' && setup.signedHead !== undefined ? 'alice' : null),
    headOf: (identity) => (identity === 'alice' ? (setup.signedHead ?? null) : assert.fail()),
    wants: setup.wants ?? (async () => []),
    onServedFrom: (height) => void servedFrom.push(height),
    onCaughtUp: () => void caughtUp.push(asked.length),
    onFatal: (error) => {
      fatal.push(error)
      void sync.close()
    },
  })
  return {
    ...{ asked, results, servedFrom, fatal, caughtUp },
    looks: () => looks,
    /** Pulls that were called off and have ended. */
    ended: () => ended,
    listeners: () => listeners.size,
    setWants: (...wants: readonly Want[]) => sync.setWants(wants),
    /** Something happened to a peer; from then on peers announce this. */
    event: (type: Parameters<Listener>[0]['type'], peer: string, after = announced) => {
      announced = after
      for (const listener of listeners) listener({ type, peer, announced: after[peer] ?? null })
    },
    pass: async (ms: number) => {
      clock.pass(ms)
      t.mock.timers.tick(ms)
      await settled()
    },
    close: sync.close,
  }
}

test('three missing blocks are asked for at once, two a quarter of a second later', async (t) => {
  const scene = open(t)
  scene.setWants(wanted(1, 3), wanted(5, 6, 'alice'))
  await settled()
  assert.deepEqual(scene.asked, [['a', 1, 3]])
  scene.setWants(wanted(5, 6, 'alice'))
  await scene.pass(249)
  assert.deepEqual(scene.asked, [['a', 1, 3]])
  await scene.pass(2)
  assert.deepEqual(scene.asked.slice(1), [['a', 5, 6]])
})

test('blocks that are still wanted wait no longer, whatever else is wanted since', async (t) => {
  const scene = open(t)
  scene.setWants(wanted(5, 6))
  await scene.pass(200)
  scene.setWants(wanted(8, 8, 'alice'), wanted(5, 6))
  await scene.pass(49)
  assert.deepEqual(scene.asked, [])
  await scene.pass(2)
  assert.deepEqual(scene.asked, [['a', 5, 6]])
})

test('peers are looked at when something can have changed, not as time passes', async (t) => {
  const scene = open(t)
  for (let again = 0; again < 3; again++) scene.setWants(wanted(5, 6))
  assert.equal(scene.looks(), 3)
  await scene.pass(251)
  assert.deepEqual(scene.asked, [['a', 5, 6]])
  assert.equal(scene.looks(), 5, 'when it was due, and after it was pulled')
  await scene.pass(10_000)
  assert.equal(scene.looks(), 5)
})

test('a peer that brought nothing is left alone for a while, or until it connects again', async (t) => {
  const gap = wanted(1, 9)
  const scene = open(t, { blocks: 0, failure: unreachable, wants: async () => [gap] })
  scene.setWants(gap)
  await settled()
  scene.event('announced', 'a')
  await scene.pass(499)
  assert.equal(scene.asked.length, 1)
  await scene.pass(2)
  assert.equal(scene.asked.length, 2)
  scene.event('connected', 'b')
  await settled()
  assert.equal(scene.asked.length, 2)
  for (const type of ['connected', 'disconnected'] as const) {
    scene.event(type, 'a')
    await settled()
  }
  assert.equal(scene.asked.length, 4)
})

test('a Generator is asked for what it signed, though it announced less', async (t) => {
  const scene = open(t, { announced: { a: { tail: 0, head: 10 } }, signedHead: 20 })
  scene.setWants(wanted(11, 30, 'alice'))
  await settled()
  assert.deepEqual(scene.asked, [['a', 11, 20]])
})

test('a Generator is asked for what it announced, though it signed less', async (t) => {
  const scene = open(t, { announced: { a: { tail: 0, head: 10 } }, signedHead: 5 })
  scene.setWants(wanted(1, 30, 'alice'))
  await settled()
  assert.deepEqual(scene.asked, [['a', 1, 10]])
})

test('a Generator is asked for nothing before it announced something', async (t) => {
  const silent = open(t, { announced: { a: null }, signedHead: 5 })
  silent.setWants(wanted(1, 5, 'alice'))
  await settled()
  assert.deepEqual(silent.asked, [])
  silent.event('announced', 'a', { a: { tail: 0, head: 3 } })
  await settled()
  assert.deepEqual(silent.asked, [['a', 1, 5]])
})

test('the lowest height that peers serve is reported when it changes', async (t) => {
  const scene = open(t, { announced: { a: null } })
  scene.event('connected', 'a')
  assert.deepEqual(scene.servedFrom, [])
  for (const tail of [7, 7, 9]) scene.event('announced', 'a', { a: { tail, head: 20 } })
  scene.event('disconnected', 'a', {})
  assert.deepEqual(scene.servedFrom, [7, 9, null])
})

test('a piece is counted as whole, in part or failed', async (t) => {
  const pulledWith = async (setup: Setup): Promise<readonly string[]> => {
    const scene = open(t, setup)
    scene.setWants(wanted(1, 9))
    await settled()
    await scene.close()
    t.mock.reset()
    return scene.results
  }
  assert.deepEqual(await pulledWith({ blocks: 9 }), ['whole'])
  assert.deepEqual(await pulledWith({ blocks: 8 }), ['partial'])
  assert.deepEqual(await pulledWith({ blocks: 8, failure: unreachable }), ['failed'])
})

test('a Host has caught up for a purpose when nothing is wanted for it any more', async (t) => {
  const rest = wanted(70, 99)
  const left = [[rest, wanted(1, 9, 'alice')], [rest], []]
  const scene = open(t, { wants: async () => left.shift() ?? assert.fail('asked once more') })
  scene.setWants(wanted(60, 99))
  await settled()
  assert.deepEqual(scene.asked, [
    ['a', 60, 99],
    ['a', 1, 9],
    ['a', 70, 99],
  ])
  assert.deepEqual(scene.caughtUp, [2, 3], 'after the second pull and the third')
})

test('a peer that sends nothing is called off after half a minute, or as long as is said', async (t) => {
  const scene = open(t, { isSilent: true })
  scene.setWants(wanted(1, 9))
  await scene.pass(29_999)
  assert.deepEqual(scene.results, [])
  await scene.pass(1)
  assert.deepEqual(scene.results, ['failed'])
  await scene.close()
  t.mock.reset()
  const impatient = open(t, { isSilent: true, uselessMs: 500 })
  impatient.setWants(wanted(1, 9))
  await impatient.pass(500)
  assert.deepEqual(impatient.results, ['failed'])
})

test('what keeps the writer from saying what is wanted is reported', async (t) => {
  const failure = new Error('the store is full')
  const scene = open(t, { wants: () => Promise.reject(failure) })
  scene.setWants(wanted(1, 9))
  await settled()
  assert.deepEqual(scene.fatal, [failure])
  assert.deepEqual(scene.results, [])
})

test('a Host that closes ends its pulls, and asks nobody again', async (t) => {
  let questions = 0
  const wants = async (): Promise<readonly Want[]> => {
    questions += 1
    return []
  }
  const scene = open(t, { isSilent: true, wants })
  scene.setWants(wanted(1, 9))
  await settled()
  assert.deepEqual([scene.ended(), scene.listeners()], [0, 1])
  await scene.close()
  assert.deepEqual([scene.ended(), scene.listeners()], [1, 0])
  assert.equal(scene.asked.length, 1)
  const looks = scene.looks()
  scene.setWants(wanted(20, 29, 'alice'))
  scene.event('connected', 'a')
  await scene.pass(60_000)
  assert.equal(scene.asked.length, 1)
  assert.deepEqual([questions, scene.results, scene.looks()], [0, [], looks])
})
