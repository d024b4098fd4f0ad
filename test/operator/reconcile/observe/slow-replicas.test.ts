/** Replicas that take their time to answer, and what happens to them meanwhile. */
import assert from 'node:assert/strict'
import { afterEach, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import {
  type HealthObserver,
  openHealthObserver,
  type Target,
} from '../../../../operator/reconcile/observe/health-observer.ts'

const body = (id: string): string =>
  JSON.stringify({ program: 'host', p2p: { self: { id }, peers: [] } })
const first: Target = { ordinal: 0, uid: 'pod', ip: '10.0.0.1' }

let observer: HealthObserver | null = null
afterEach(async () => {
  await observer?.close()
  observer = null
})

/** An observer of replicas that answer when the test says so, one after the other. */
function checkSlowly(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: PromiseWithResolvers<string>[] = []
  const announced: string[] = []
  const seen = openHealthObserver(
    { maxConcurrent: 1 },
    {
      log: pino({ level: 'silent' }),
      fetchText: (_, signal) => {
        const answer = Promise.withResolvers<string>()
        asked.push(answer)
        signal.addEventListener('abort', async () => {
          await setImmediate()
          givenUp.push(asked.indexOf(answer))
          answer.reject(signal.reason)
        })
        return answer.promise
      },
      onChange: (owner) => announced.push(owner),
    },
  )
  const givenUp: number[] = []
  observer = seen
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms)
    for (let turn = 0; turn < 5; turn++) await setImmediate()
  }
  return { seen, asked, announced, givenUp, pass }
}

test('a replica of which something changes while it is asked is asked once more, after that', async (t) => {
  const { seen, asked, pass } = checkSlowly(t)
  seen.watch('Host a/b', [{ ...first, occasion: 'unready' }])
  await pass(0)
  seen.watch('Host a/b', [{ ...first, occasion: 'ready' }])
  await pass(2_000)
  asked[0]?.resolve(body('one'))
  await pass(0)
  assert.equal(asked.length, 1)
  await pass(2_000)
  assert.equal(asked.length, 2)
})

test('of a replica that is watched no more nothing is announced, nor is it asked in its turn', async (t) => {
  const { seen, asked, announced, pass } = checkSlowly(t)
  seen.watch('Host a/b', [first])
  seen.watch('Host a/c', [{ ...first, ip: '10.0.0.2' }])
  seen.watch('Host a/d', [{ ...first, ip: '10.0.0.3' }])
  await pass(0)
  for (const owner of ['Host a/b', 'Host a/c']) seen.watch(owner, [])
  asked[0]?.resolve(body('one'))
  await pass(0)
  assert.deepEqual([asked.length, announced], [2, []])
  asked[1]?.resolve(body('three'))
  await pass(0)
  assert.deepEqual(announced, ['Host a/d'])
})

test('closing gives up what is asked, and waits for it', async (t) => {
  const { seen, asked, givenUp, pass } = checkSlowly(t)
  seen.watch('Host a/b', [first])
  await pass(0)
  await seen.close()
  assert.deepEqual([asked.length, givenUp], [1, [0]])
})
