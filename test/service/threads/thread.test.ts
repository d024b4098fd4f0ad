import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ResourceLimits } from 'node:worker_threads'
import { ServiceError } from '../../../src/errors.ts'
import { openThread, type Thread, threadUrl } from '../../../src/service/threads/thread.ts'
import { runningTimers } from '../../support/leaks/timers.ts'
import type { ExampleData, ExampleEvents, ExampleRequests } from '../support/example-thread.ts'

interface Example {
  readonly thread: Thread<ExampleRequests, ExampleEvents>
  /** What was reported as fatal. */
  readonly fatal: ServiceError[]
  /** The first fatal report. */
  readonly death: Promise<ServiceError>
}

async function open(
  data: ExampleData = {},
  closeTimeoutMs = 5_000,
  resourceLimits: ResourceLimits = {},
): Promise<Example> {
  const fatal: ServiceError[] = []
  const death = Promise.withResolvers<ServiceError>()
  const url = threadUrl('../support/example-thread', import.meta.url)
  const transfer = data.buffer === undefined ? [] : [data.buffer]
  const thread = await openThread<ExampleRequests, ExampleEvents>(
    { url, name: 'example', data, transfer, closeTimeoutMs, resourceLimits },
    {
      onFatal(error) {
        fatal.push(error)
        death.resolve(error)
      },
    },
  )
  after(() => thread.close().catch(() => undefined))
  return { thread, fatal, death: death.promise }
}

/** The thread of the tests that leave it running. */
const { thread, fatal } = await open()

test('a thread URL has the extension of the calling module, so that it runs from a build too', () => {
  assert.equal(threadUrl('./writer', 'file:///a/src/host.ts').href, 'file:///a/src/writer.ts')
  assert.equal(threadUrl('./writer', 'file:///a/dist/host.js').href, 'file:///a/dist/writer.js')
})

test('concurrent requests each resolve with their own result', async () => {
  const sums = [1, 2, 3].map((n) => thread.request('add', [n, n]))
  assert.deepEqual(await Promise.all(sums), [2, 4, 6])
  assert.equal(await thread.request('nothing', undefined), null)
})

test('transferred bytes are moved there and back', async () => {
  const bytes = new Uint8Array([1, 2, 3])
  const answer = await thread.request('increment', bytes, { transfer: [bytes.buffer] })
  assert.deepEqual(answer, new Uint8Array([2, 3, 4]))
  assert.equal(bytes.length, 0)
})

test('a failure keeps code, facts, remedy and cause on its way', async () => {
  await assert.rejects(thread.request('refuse', 'not today'), (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'CONFIG_INVALID')
    assert.equal(error.message, 'not today')
    assert.deepEqual(error.facts, { thread: true, height: 7n })
    assert.equal(error.remedy, 'Ask for something else.')
    assert.ok(error.cause instanceof Error)
    assert.equal(error.cause.message, 'the reason')
    return true
  })
  assert.deepEqual(fatal, [])
})

test('a result that cannot be cloned fails that request only', async () => {
  await assert.rejects(thread.request('unclonable', undefined), /could not be cloned/)
  assert.equal(await thread.request('add', [1, 1]), 2)
})

test('a payload that cannot be sent is a failure of that request only', async () => {
  const payload = [1, () => 1] as unknown as [number, number]
  await assert.rejects(thread.request('add', payload), /could not be cloned/)
  assert.equal(await thread.request('add', [1, 1]), 2)
})

test('events arrive in order until the listener is taken off', async () => {
  const ticks: number[] = []
  const off = thread.on('tick', (tick) => ticks.push(tick))
  await thread.request('emitTicks', 3)
  off()
  await thread.request('emitTicks', 2)
  assert.deepEqual(ticks, [1, 2, 3])
})

test('events from before there was a listener reach the first one', () => {
  const steps: number[] = []
  const again: number[] = []
  thread.on('opening', (step) => steps.push(step))
  thread.on('opening', (step) => again.push(step))
  assert.deepEqual([steps, again], [[1, 2], []])
})

test('a thread has the limits of its memory, and no metrics where it measures nothing', async () => {
  const { thread } = await open({ isUnmeasured: true }, 5_000, { maxOldGenerationSizeMb: 99 })
  assert.equal((await thread.request('limits', undefined)).maxOldGenerationSizeMb, 99)
  assert.deepEqual(await thread.metrics(), [])
})

test('an aborted signal rejects the request at once and aborts its handler', async () => {
  const controller = new AbortController()
  const waiting = thread.request('waitForAbort', undefined, { signal: controller.signal })
  controller.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  assert.equal(await thread.request('aborted', undefined), 1)
  const { signal } = controller
  await assert.rejects(thread.request('add', [1, 1], { signal }), { name: 'AbortError' })
})

test('closing aborts running requests, waits for their results, then closes the parts', async () => {
  const { thread, fatal } = await open()
  const closed: string[] = []
  thread.on('closed', (when) => closed.push(when))
  const running = thread.request('waitForAbort', undefined)
  await Promise.all([thread.close(), thread.close()])
  assert.equal(await running, 'aborted')
  assert.deepEqual(closed, ['after the signal'])
  assert.deepEqual(fatal, [])
  await assert.rejects(thread.request('add', [1, 1]), { name: 'AbortError' })
})

test('a request while it closes is aborted, and is no failure of the program', async () => {
  const { thread, fatal } = await open({ hangClose: true }, 200)
  const closing = thread.close()
  for (const name of ['aborted', 'wait'] as const)
    await assert.rejects(thread.request(name, undefined), { name: 'AbortError' })
  await closing
  assert.deepEqual(fatal, [])
})

test('an uncaught error while it closes rejects the close', async () => {
  const { thread, fatal } = await open({ crashClose: true })
  await assert.rejects(thread.close(), { message: 'nobody waits for this' })
  assert.deepEqual(fatal, [])
})

test('a close that fails in the thread fails here', async () => {
  const { thread } = await open({ failClose: true })
  await assert.rejects(thread.close(), { message: 'the store is stuck' })
})

test('a thread that has closed leaves no timer, which would keep the program from ending', async () => {
  const { thread } = await open({}, 60_000)
  const before = runningTimers()
  const closing = thread.close()
  assert.equal(runningTimers(), before + 1)
  await closing
  assert.equal(runningTimers(), before)
})

test('a close that hangs is ended by force after its time', async () => {
  const { thread, fatal } = await open({ hangClose: true }, 100)
  await thread.close()
  assert.deepEqual(fatal, [])
})

test('an uncaught error is fatal once: all pending requests fail with its cause and remedy', async () => {
  const { thread, fatal, death } = await open({}, 60_000)
  const pending = [thread.request('wait', undefined), thread.request('wait', undefined)]
  const results = Promise.allSettled(pending)
  await thread.request('crash', 'the disk is full')
  const error = await death
  assert.equal(error.code, 'SERVICE_THREAD_DIED')
  assert.equal(error.message, 'the example thread ended: the disk is full')
  assert.equal(error.remedy, 'Mend it.')
  assert.ok(error.cause instanceof ServiceError)
  for (const result of await results) {
    assert.equal(result.status === 'rejected' && result.reason, error)
  }
  await assert.rejects(thread.request('add', [1, 1]), error)
  await thread.close()
  await assert.rejects(thread.request('add', [1, 1]), error)
  assert.deepEqual(fatal, [error])
})

test('a thread that exits is fatal', async () => {
  const { thread, death } = await open()
  await assert.rejects(thread.request('exit', 3), { code: 'SERVICE_THREAD_DIED' })
  assert.equal((await death).message, 'the example thread ended: exit code 3')
})

test('what the start of a thread throws is thrown here, and is not also fatal', async () => {
  const buffer = new ArrayBuffer(5)
  await assert.rejects(open({ failOpen: true, buffer }), (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'CONFIG_INVALID')
    assert.deepEqual(error.facts, { bytes: 5 })
    return true
  })
  assert.equal(buffer.byteLength, 0)
})

test('a thread whose module is not there is reported with the reason', async () => {
  const url = threadUrl('../support/no-thread', import.meta.url)
  await assert.rejects(openThread({ url, name: 'example', data: {} }, { onFatal: assert.fail }), {
    code: 'SERVICE_THREAD_DIED',
    message: /^the example thread ended: Cannot find module /,
  })
})

test('a thread that exits while it starts is reported', async () => {
  await assert.rejects(open({ crashOpen: true }), { code: 'SERVICE_THREAD_DIED' })
})
