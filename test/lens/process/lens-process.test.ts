import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { codeOf } from '../../../src/errors.ts'
import { greedy } from '../support/hostile-lenses.ts'
import { buildLens, byteOfItem, op } from '../support/lens.ts'
import { openLenses } from './support/open-lenses.ts'

const loop = buildLens({ transform: [...op.forever(), ...op.const(0)] })
const limits = { processorMs: 60_000, wallMs: 60_000 }

/** A path in a folder that is removed after the test. */
function pathFor(context: TestContext, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-lens-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return join(folder, name)
}

test('a View is loaded once, and its jobs get documents to it and back', async (context) => {
  const lenses = openLenses(context)
  const documents = ['{"a":1}', '{"b":"ü"}']
  let asked = 0
  const definition = (): Uint8Array => {
    asked += 1
    return Buffer.from([2, ...buildLens()])
  }
  for (let job = 0; job < 3; job += 1)
    assert.deepEqual(
      await lenses.run('identity', buildLens(), { documents, definition }),
      documents,
    )
  assert.equal(asked, 1)
  assert.equal(lenses.ends(), 0)
})

test('a thread keeps 64 MiB of Views loaded, and forgets those not used for longest', async (context) => {
  const lenses = openLenses(context)
  const size = 30 * 1024 * 1024
  // A custom section (core specification, 5.5.3) with an empty name.
  const filling = Buffer.concat([Uint8Array.of(0, ...lengthOf(size + 1), 0), Buffer.alloc(size)])
  const wasm = Buffer.concat([buildLens(), filling])
  const asked: string[] = []
  const use = async (view: string): Promise<void> => {
    const definition = (): Uint8Array => {
      asked.push(view)
      return Buffer.concat([Uint8Array.of(1), wasm])
    }
    assert.deepEqual(await lenses.run(view, wasm, { definition, ...limits }), ['{"n":1}'])
  }
  for (const view of ['a', 'b', 'a', 'c', 'a', 'b']) await use(view)
  assert.deepEqual(asked, ['a', 'b', 'c', 'b'])
})

/** A number as unsigned LEB128, four bytes long. */
function lengthOf(value: number): number[] {
  return [0, 7, 14, 21].map((shift) => ((value >> shift) & 127) | (shift < 21 ? 128 : 0))
}

test('its work stands behind that of the program, as far as it was asked to', async (context) => {
  for (const niceness of [undefined, 12]) {
    const lenses = openLenses(context, niceness === undefined ? {} : { niceness })
    const { pid } = Object(await lenses.command({ does: 'describe' }))
    assert.equal(getPriority(pid), Math.min(19, getPriority() + (niceness ?? 5)))
  }
})

test('no Ctrl-C for the program reaches it, and where memory runs out it goes first', async (context) => {
  const lenses = openLenses(context)
  const { pid } = Object(await lenses.command({ does: 'describe' }))
  assert.ok(process.kill(-pid, 0), 'there is a group of its own')
  assert.equal(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'), '1000\n')
})

test('what a lens does wrong is the error of its job', async (context) => {
  const lenses = openLenses(context)
  await assert.rejects(lenses.run('trap', buildLens({ transform: op.unreachable })), {
    code: 'LENS_TRAPPED',
    message: 'lens 1 trapped in transform: unreachable',
    facts: { lens: 1, during: 'transform' },
  })
  await assert.rejects(lenses.run('bytes', Buffer.from('no module')), {
    code: 'LENS_MODULE_REFUSED',
  })
  const failing = { definition: () => assert.fail('no definition') }
  await assert.rejects(lenses.run('gone', loop, failing), { message: 'no definition' })
  assert.deepEqual(await lenses.run('identity', buildLens()), ['{"n":1}'])
  assert.equal(await lenses.metric('viewmesh_lens_jobs_total', { outcome: 'failed' }), 3)
  assert.equal(await lenses.metric('viewmesh_lens_jobs_total', { outcome: 'done' }), 1)
})

describe('a job that takes too long is ended, and nothing else', () => {
  test('by its processor time', async (context) => {
    const lenses = openLenses(context)
    await assert.rejects(lenses.run('loop', loop, { processorMs: 100 }), {
      code: 'LENS_TIME_LIMIT',
      message: 'the lenses took more than 100 ms of processor time, at last in lens 1',
      facts: { limitMs: 100, lens: 1 },
    })
    assert.deepEqual(await lenses.run('identity', buildLens()), ['{"n":1}'])
    assert.equal(lenses.ends(), 0)
    assert.equal(await lenses.metric('viewmesh_lens_jobs_total', { outcome: 'limited' }), 1)
    assert.ok((await lenses.metric('viewmesh_lens_processor_seconds_total')) >= 0.1)
  })

  test('and the lens that was at work is named where one asks another', async (context) => {
    const lenses = openLenses(context)
    const mark = 0x78
    // Marks the first byte of a document, and comes to no end with one that is marked.
    const marking = buildLens({
      transform: [
        ...op.callNext,
        ...op.set(0),
        ...byteOfItem(5),
        ...op.const(mark),
        ...op.equal,
        ...op.when(op.forever()),
        ...op.get(0),
        ...op.const(5),
        ...op.add,
        ...op.const(mark),
        ...op.store8,
        ...op.get(0),
      ],
    })
    const job = { copies: 2, processorMs: 100 }
    await assert.rejects(lenses.run('marking', marking, job), {
      message: 'the lenses took more than 100 ms of processor time, at last in lens 2',
    })
  })

  test('by the clock', async (context) => {
    const lenses = openLenses(context)
    const first = pathFor(context, 'first')
    await assert.rejects(lenses.command({ does: 'wait', first }, { wallMs: 100 }), {
      code: 'LENS_TIME_LIMIT',
      message: 'the lenses took more than 100 ms of time',
    })
    assert.equal(await lenses.command({ does: 'wait', first }), 'wait')
    assert.equal(lenses.ends(), 0)
  })

  test('because nobody wants it any more, whether it waits or runs', async (context) => {
    const lenses = openLenses(context)
    const running = new AbortController()
    const waiting = new AbortController()
    const first = lenses.run('loop', loop, { ...limits, signal: running.signal })
    const second = lenses.run('loop', loop, { ...limits, signal: waiting.signal })
    const underWay = await lenses.metric('viewmesh_lens_running_jobs')
    assert.equal(underWay + (await lenses.metric('viewmesh_lens_waiting_jobs')), 2)
    waiting.abort(new Error('not this one'))
    await assert.rejects(second, { message: 'not this one' })
    running.abort(new Error('nor that one'))
    await assert.rejects(first, { message: 'nor that one' })
    assert.deepEqual(await lenses.run('identity', buildLens()), ['{"n":1}'])
    assert.equal(await lenses.metric('viewmesh_lens_jobs_total', { outcome: 'aborted' }), 2)
    const late = lenses.run('identity', buildLens(), { signal: running.signal })
    await assert.rejects(late, { message: 'nor that one' })
  })
})

describe('where the process dies', () => {
  test('the one job under way fails, and the next finds another process', async (context) => {
    const lenses = openLenses(context)
    const dying = lenses.command({ does: 'die', when: '/' })
    const waiting = lenses.command({ does: 'wait', first: '/' })
    await assert.rejects(dying, {
      code: 'LENS_PROCESS_DIED',
      message: 'the lens process ended: SIGKILL',
      remedy:
        'See that the machine has memory to spare; the log of a Host has what the process of the lenses wrote last.',
    })
    assert.equal(await waiting, 'wait')
    assert.equal(lenses.ends(), 1)
    assert.equal(await lenses.metric('viewmesh_lens_process_restarts_total'), 1)
    assert.equal(await lenses.metric('viewmesh_lens_jobs_total', { outcome: 'died' }), 1)
    const { msg, reason, cause, jobs, views, output } = lenses.warnings[0] ?? {}
    assert.deepEqual(
      { msg, reason, cause, jobs, views, output },
      {
        msg: 'lens process ended; it is started again',
        reason: 'SIGKILL',
        cause: null,
        jobs: 1,
        views: ['identity'],
        output: '',
      },
    )
  })

  test('jobs beside the one at fault are done again, and it alone fails', async (context) => {
    const lenses = openLenses(context, { threads: 2 })
    const first = pathFor(context, 'first')
    const innocent = lenses.command({ does: 'wait', first }, { view: 'innocent', ...limits })
    const guilty = lenses.command({ does: 'die', when: first }, { view: 'guilty', ...limits })
    await assert.rejects(guilty, { code: 'LENS_PROCESS_DIED' })
    assert.equal(await innocent, 'wait')
    assert.equal(lenses.ends(), 2)
  })

  test('because the system does not start it, jobs fail with the reason', async (context) => {
    // Longer than one text of an environment may be.
    const lenses = openLenses(context, { environment: { TZ: 'x'.repeat(1 << 20) } })
    await assert.rejects(lenses.run('identity', buildLens()), {
      code: 'LENS_PROCESS_DIED',
      message: 'the lens process ended: spawn E2BIG',
    })
  })

  test('because its thread does not start, jobs fail with the reason', async (context) => {
    const lenses = openLenses(context, { refuses: true })
    await assert.rejects(lenses.run('identity', buildLens()), (error: Error) => {
      assert.equal(Reflect.get(error, 'code'), 'LENS_PROCESS_DIED')
      assert.equal(error.message, 'the lens process ended: a thread in it did not start')
      assert.match(String(error.cause), /the worker does not want to/)
      return true
    })
  })
})

describe('memory', () => {
  const megabytes = 1024 * 1024

  test('that lenses take above the limit ends the process, and their job fails', async (context) => {
    const lenses = openLenses(context, { memoryBytes: 300 * megabytes })
    const documents = Array.from({ length: 10_000 }, () => '{}')
    const job = { documents, copies: 4, ...limits }
    await assert.rejects(lenses.run('greedy', greedy, job), {
      code: 'LENS_MEMORY_LIMIT',
      message: /^the lens process took more than 314572800 bytes of memory, at last in lens [1-4]$/,
      remedy: 'Keep less in the lenses, or use fewer of them.',
    })
    assert.deepEqual(await lenses.run('identity', buildLens()), ['{"n":1}'])
    assert.equal(lenses.ends(), 1)
  })

  test('that earlier jobs left is not held against the next one', async (context) => {
    const lenses = openLenses(context, { memoryBytes: 600 * megabytes })
    for (let job = 0; job < 12; job += 1)
      await lenses.command({ does: 'keep', bytes: 60 * megabytes })
    assert.ok(lenses.ends() >= 1)
    assert.equal(await lenses.metric('viewmesh_lens_jobs_total', { outcome: 'done' }), 12)
    assert.deepEqual(lenses.warnings, [])
    const resident = await lenses.metric('viewmesh_lens_process_resident_bytes')
    assert.ok(resident > 60 * megabytes && resident < 600 * megabytes)
  })

  test('that the process has before its first job is not held against that one', async (context) => {
    const first = openLenses(context)
    await first.command({ does: 'describe' })
    const bytes = await first.metric('viewmesh_lens_process_resident_bytes')
    assert.ok(bytes > 10 * megabytes, 'it says how much, however short its job is')
    const lenses = openLenses(context, { memoryBytes: Math.ceil(bytes / 0.9) })
    // What it takes for the job itself may be more than that.
    const outcome = await lenses.command({ does: 'describe' }).then(() => 'done', codeOf)
    assert.match(String(outcome), /^(done|LENS_MEMORY_LIMIT)$/)
  })

  test('of the heap of a thread that is used up ends that thread alone', async (context) => {
    const lenses = openLenses(context)
    await assert.rejects(lenses.command({ does: 'exhaust' }, limits), {
      code: 'LENS_MEMORY_LIMIT',
      message: /the thread of the lenses ended: .*memory/,
      facts: { block: 7 },
    })
    assert.deepEqual(await lenses.run('identity', buildLens()), ['{"n":1}'])
    assert.equal(lenses.ends(), 0)
  })

  test('of a result is bounded', async (context) => {
    const lenses = openLenses(context)
    const most = 32 * megabytes
    await assert.rejects(lenses.command({ does: 'large', bytes: most - 1 }), {
      name: 'Error',
      message: `broken invariant: a job returns ${most + 1} bytes, and ${most} are accepted`,
    })
    const text = await lenses.command({ does: 'large', bytes: most - 2 })
    assert.equal(String(text).length, most - 2)
  })
})

test('of the program’s environment the process has nothing but what holds no secret', async (context) => {
  const environment = { DB_KEYRING_SECRET: 'secret', TZ: 'UTC', NODE_OPTIONS: '--inspect' }
  const lenses = openLenses(context, { environment })
  const { pid } = Object(await lenses.command({ does: 'describe' }))
  const names = readFileSync(`/proc/${pid}/environ`, 'utf8').split(/=.*?\0/)
  const addedByNode = /^NODE_(?:CHANNEL_|V8_COVERAGE$)/
  assert.deepEqual(names.filter((name) => !addedByNode.test(name)).toSorted(), ['', 'TZ'])
})

test('closing ends the process and what is under way', async (context) => {
  const lenses = openLenses(context)
  const running = lenses.run('loop', loop, limits)
  const waiting = lenses.run('loop', loop, limits)
  const rejected = [running, waiting].map((job) => assert.rejects(job, { name: 'AbortError' }))
  const closing = lenses.process.close()
  await lenses.process.close()
  await closing
  await Promise.all(rejected)
  await assert.rejects(lenses.run('identity', buildLens()), { name: 'AbortError' })
  await lenses.process.close()
  assert.deepEqual(lenses.warnings, [])
})
