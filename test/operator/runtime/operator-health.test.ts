import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healthRoutes, watchLoop } from '../../../operator/runtime/operator-health.ts'
import { openHttpServer } from '../../../src/service/health/http-server.ts'
import { captureLog } from '../../support/captured-log.ts'
import { runningTimers } from '../../support/leaks/timers.ts'

test('both endpoints answer 200 while all is well, also with a remark, and else 503', async () => {
  let problem: string | null = null
  let remark: string | null = null
  const checks = {
    live: { 'event-loop': () => null },
    ready: { watches: () => problem, stopping: () => null },
    remarks: { watches: () => remark },
  }
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, setting: 'HEALTH_ADDR' },
    { log: captureLog().log, routes: (routes) => healthRoutes(routes, checks) },
  )
  const ask = async (path: string): Promise<readonly [number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`)
    return [answer.status, await answer.text()]
  }
  try {
    assert.deepEqual(await ask('/healthz'), [200, '[+]event-loop ok\n'])
    assert.deepEqual(await ask('/readyz'), [200, '[+]watches ok\n[+]stopping ok\n'])
    problem = 'not read: Pod'
    const text = '[-]watches failed: not read: Pod\n[+]stopping ok\n'
    assert.deepEqual(await ask('/readyz'), [503, text])
    problem = null
    remark = 'not read: Pod in apps'
    const remarked = '[+]watches ok\n[+]stopping ok\n[!]watches: not read: Pod in apps\n'
    assert.deepEqual(await ask('/readyz'), [200, remarked])
    assert.deepEqual(await ask('/healthz'), [200, '[+]event-loop ok\n'])
  } finally {
    await server.close()
  }
})

test('an event loop that was blocked is seen as late, until it is on time again', async () => {
  const before = runningTimers()
  const loop = watchLoop()
  assert.equal(runningTimers(), before, 'it keeps no process from ending')
  const untilMs = performance.now() + 700
  while (performance.now() < untilMs);
  while (loop.lagMs() === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(loop.lagMs() >= 150)
  const tooLateMs = performance.now() + 20_000
  while (loop.lagMs() >= 150 && performance.now() < tooLateMs) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.ok(loop.lagMs() < 150)
  loop.close()
})
