import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FailureReport } from '../../src/service/contract.ts'
import { openFailureLog } from '../../src/service/failure-log.ts'
import { captureLog } from '../support/captured-log.ts'
import { runningTimers } from '../support/leaks/timers.ts'

const silent: FailureReport = {
  code: 'HOST_SIGNER_SILENT',
  message: 'Nobody speaks.',
  remedy: 'Look.',
}

test('failures that are looked for do not keep the program from ending', (t) => {
  const before = runningTimers()
  const failureLog = openFailureLog({}, { log: captureLog().log, failures: () => [] })
  t.after(() => failureLog.close())
  assert.equal(runningTimers(), before)
})

test('a lasting failure is logged once with its code and remedy, and once when it is over', async (t) => {
  const { log, line, lines } = captureLog()
  let now: FailureReport[] = [silent]
  const failureLog = openFailureLog(
    { pollIntervalMs: 2, lastingMs: 20 },
    { log, failures: () => now },
  )
  t.after(() => failureLog.close())
  const logged = await line('Nobody speaks.')
  assert.deepEqual([logged.level, logged['code'], logged['remedy']], ['warn', silent.code, 'Look.'])
  now = [{ ...silent, message: 'Nobody speaks, for 21 seconds.' }]
  await new Promise((resolve) => setTimeout(resolve, 10))
  now = []
  const over = await line('over')
  assert.deepEqual([over.level, over['code']], ['info', silent.code])
  assert.equal(lines.length, 2)
})

test('a failure that is over soon is not logged', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { log, lines } = captureLog()
  let now: FailureReport[] = [silent]
  const failureLog = openFailureLog(
    { pollIntervalMs: 5, lastingMs: 100_000 },
    { log, failures: () => now },
  )
  t.mock.timers.tick(50)
  now = []
  t.mock.timers.tick(50)
  failureLog.close()
  assert.deepEqual(lines, [])
})

test('a failure is logged at the poll of every 5 s by which it has lasted 10 s', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const { log, lines } = captureLog()
  let now: FailureReport[] = [{ ...silent, message: 'Earlier.' }, silent]
  const failureLog = openFailureLog({}, { log, failures: () => now })
  t.after(() => failureLog.close())
  const pass = (ms: number): number => {
    nowMs += ms
    t.mock.timers.tick(ms)
    return lines.length
  }
  assert.deepEqual([5_000, 5_000, 4_999, 1, 5_000].map(pass), [0, 0, 0, 1, 1])
  now = []
  assert.equal(pass(5_000), 2)
  now = [silent]
  assert.deepEqual([5_000, 5_000, 5_000].map(pass), [2, 2, 3])
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['Nobody speaks.', 'over', 'Nobody speaks.'],
  )
})
