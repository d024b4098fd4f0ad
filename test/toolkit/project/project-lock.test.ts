/** One change of a project after the other. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { withProjectLock } from '../../../src/toolkit/project/project-lock.ts'
import { testDirectory } from '../../support/test-store.ts'

const { signal } = new AbortController()

function placesOf(t: TestContext) {
  const folder = testDirectory(t)
  return { folder, history: join(folder, '.viewmesh'), settingsFile: null }
}

/** A project that is being changed until the test says so. */
async function openBusy(t: TestContext) {
  const places = placesOf(t)
  const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const changed = withProjectLock(places, signal, async () => {
    began.resolve()
    await end.promise
    return 'first'
  })
  t.after(() => end.resolve())
  await began.promise
  return { places, end: end.resolve, changed }
}

test('a change waits until the one before is over', async (t) => {
  const { places, end, changed } = await openBusy(t)
  // Looked at once for the deadline, and then after each try that fails.
  const clock = t.mock.method(performance, 'now')
  const ended: string[] = []
  const second = withProjectLock(places, signal, async () => 'second')
  const all = [changed, second].map((each) => each.then((name) => void ended.push(name)))
  while (clock.mock.callCount() < 3 && ended.length === 0) await nextTurn()
  assert.deepEqual(ended, [])
  end()
  await Promise.all(all)
  assert.deepEqual(ended, ['first', 'second'])
})

test('a change that waits for more than 15 s is given up, with what to do', async (t) => {
  const { places } = await openBusy(t)
  const times = [1_000, 16_000, 16_001]
  t.mock.method(performance, 'now', () => times.shift() ?? assert.fail('the wait goes on'))
  await assert.rejects(
    withProjectLock(places, signal, () => assert.fail('it has the lock')),
    {
      code: 'TOOLKIT_PROJECT_BUSY',
      message: `another process is changing ${places.folder}`,
      remedy: 'Wait until it is done, or end it: its lock ends with it.',
    },
  )
  assert.deepEqual(times, [])
})

test('a command that is interrupted waits no longer', async (t) => {
  const { places } = await openBusy(t)
  const stop = new AbortController()
  const waiting = withProjectLock(places, stop.signal, () => assert.fail('it has the lock'))
  stop.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
})

test('the lock ends with a change that fails', async (t) => {
  const places = placesOf(t)
  const failed = new Error('failed')
  await assert.rejects(
    withProjectLock(places, signal, () => Promise.reject(failed)),
    failed,
  )
  assert.equal(await withProjectLock(places, signal, async () => 'next'), 'next')
})
