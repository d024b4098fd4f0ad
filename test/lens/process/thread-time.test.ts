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

test('a thread that ended has no processor time to show', async () => {
  const worker = new Worker('', { eval: true })
  await once(worker, 'exit')
  assert.equal(await processorMsOf(worker, null), null)
  assert.equal(await processorMsOf(worker, `${ownTask()}/none`), null)
})
