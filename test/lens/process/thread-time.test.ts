import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { ownTask, processorMsOf } from '../../../src/lens/child/thread-time.ts'

const source = `
  import { parentPort } from 'node:worker_threads'
  import { ownProcessorMs, ownTask } from ${JSON.stringify(new URL('../../../src/lens/child/thread-time.ts', import.meta.url).href)}
  while (ownProcessorMs() < 300) ;
  parentPort.postMessage({ task: ownTask(), processorMs: ownProcessorMs() })
  for (;;) ;
`

describe('a thread that works without end shows its processor time', () => {
  for (const how of ['in the list of threads', 'when it is asked'] as const)
    test(how, async (context) => {
      const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`))
      context.after(() => worker.terminate())
      const [{ task, processorMs }] = await once(worker, 'message')
      const seen = await processorMsOf(worker, how === 'when it is asked' ? null : task)
      assert.ok(seen !== null)
      // Ticks of Linux are ten milliseconds each.
      assert.ok(seen >= processorMs - 20, `${seen} of at least ${processorMs}`)
    })
})

/** Works inside and outside of the system, says what that took, and then rests. */
const resting = `
  import { readFileSync } from 'node:fs'
  import { parentPort } from 'node:worker_threads'
  import { ownProcessorMs, ownTask } from ${JSON.stringify(new URL('../../../src/lens/child/thread-time.ts', import.meta.url).href)}
  while (process.threadCpuUsage().system < 200_000) readFileSync('/proc/self/stat')
  const before = process.threadCpuUsage()
  const processorMs = ownProcessorMs()
  const after = process.threadCpuUsage()
  parentPort.on('message', () => undefined)
  parentPort.postMessage({ task: ownTask(), before, processorMs, after })
`

interface Usage {
  readonly user: number
  readonly system: number
}

test('processor time is that of a thread and of the system for it, in milliseconds', async (t) => {
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(resting)}`))
  t.after(() => worker.terminate())
  const [{ task, before, processorMs, after }] = await once(worker, 'message')
  const toMs = ({ user, system }: Usage): number => (user + system) / 1_000
  assert.ok(processorMs >= toMs(before) && processorMs <= toMs(after))
  for (const how of [task, null]) {
    const seen = await processorMsOf(worker, how)
    assert.ok(seen !== null)
    assert.ok(Math.abs(seen - processorMs) < 100, `${seen} of about ${processorMs}`)
  }
})

test('a thread that ended has no processor time to show', async () => {
  const worker = new Worker('', { eval: true })
  await once(worker, 'exit')
  assert.equal(await processorMsOf(worker, null), null)
  assert.equal(await processorMsOf(worker, `${ownTask()}/none`), null)
})
