/** What a View does with its blocks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../../src/errors.ts'
import { encodeFailure } from '../../../../src/views/rows/block-rows.ts'
import { opaqueBlock } from '../../../support/chain/opaque-blocks.ts'
import { openRunRoom, view } from './support/view-run-room.ts'

const trapped = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', remedy: null, attempts: 1 }
const tooLong = new ServiceError('LENS_TIME_LIMIT', 'the lenses took more than 2000 ms')

test('a View has one job until it has done a block, then two, and one more for new blocks', async (t) => {
  const { begin, put } = await openRunRoom(t, { blocks: 40 })
  const [first, ...none] = begin()
  assert.ok(first !== undefined)
  assert.deepEqual([first.heights, first.job.priority], [[40, 39, 38, 37], 'backfill'])
  assert.deepEqual([first.job.view, first.job.definition()], [view.id, view.wire])
  assert.deepEqual([none, begin()], [[], []])
  await first.end({}, {}, {}, {})
  const jobs = begin()
  assert.deepEqual(
    jobs.map(({ heights }) => [heights[0], heights.at(-1), heights.length]),
    [
      [36, 29, 8],
      [28, 21, 8],
    ],
  )
  await put(41)
  const [newest] = begin()
  assert.deepEqual([newest?.heights, newest?.job.priority], [[41], 'live'])
  await put(42)
  assert.deepEqual(begin(), [])
  await newest?.end({})
  assert.deepEqual(
    begin().map(({ heights }) => heights),
    [[42]],
  )
})

test('what became of each block of a job is counted, timed and announced', async (t) => {
  const { begin, metric, pass, announced, state, captured } = await openRunRoom(t, { blocks: 4 })
  const [job] = begin()
  pass(500)
  await job?.end({ rows: 2, mismatches: 1 }, {}, { failure: trapped }, { isGone: true, rows: 9 })
  const counted = await Promise.all(
    (['done', 'failed', 'dropped'] as const).map((outcome) =>
      metric('blocks_total', { outcome, stage: 'backfill' }),
    ),
  )
  assert.deepEqual(counted, [2, 1, 1])
  assert.equal(await metric('blocks_total'), 4)
  assert.deepEqual([await metric('rows_total'), await metric('mismatches_total')], [2, 1])
  assert.deepEqual(announced, [4])
  const seconds = ['compute', 'store'].map(async (part) => [
    await metric('job_seconds_sum', { part, stage: 'backfill' }),
    await metric('job_seconds_count', { part, stage: 'backfill' }),
  ])
  assert.deepEqual(await Promise.all(seconds), [
    [0.5, 1],
    [0, 1],
  ])
  const failure = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', block: 2 }
  assert.deepEqual(state(), {
    name: 'backfilling',
    rows: 2,
    bytes: state().bytes,
    done: [[3, 4]],
    rowsFrom: null,
    blocksLeft: 1,
    blocksFailed: 1,
    blocksPerSecond: 2,
    costMs: 1,
    failure,
  })
  const [line] = captured.lines
  assert.deepEqual([line?.msg, line?.['block']], ['a block of a View failed', 2])
})

test('the first block that fails is a warning, and so is the first one after a retry', async (t) => {
  const { begin, retry, captured } = await openRunRoom(t, { blocks: 4 })
  const failed = { failure: trapped }
  await begin()[0]?.end(failed, failed, failed, failed)
  await retry()
  await begin()[0]?.end(failed, failed, failed, failed)
  const levels = captured.lines.map(({ level }) => level)
  assert.deepEqual(levels, ['warn', 'debug', 'debug', 'debug', 'warn', 'debug', 'debug', 'debug'])
})

test('a View whose rows take as much as they may says so in the log, once', async (t) => {
  const { begin, captured } = await openRunRoom(t, { blocks: 5, maxViewBytes: 1 })
  await begin()[0]?.end({ rows: 1 }, { rows: 1 }, { rows: 1 }, { rows: 1 })
  await begin()[0]?.end({ rows: 1 })
  const warned = captured.messages('warn')
  assert.deepEqual(warned, [
    'a View takes as much of the store as it may: its oldest rows go as new ones come',
  ])
})

test('a View that finds its blocks gone asks again after a tenth of a second', async (t) => {
  const { begin, pass } = await openRunRoom(t)
  await begin()[0]?.end({ isGone: true }, { isGone: true }, { isGone: true })
  pass(99)
  assert.equal(begin().length, 0)
  pass(1)
  const [again] = begin()
  assert.deepEqual(again?.heights, [3, 2, 1])
  await again.end({}, { isGone: true }, { isGone: true })
  assert.deepEqual(begin()[0]?.heights, [2, 1])
})

test('a limit at several blocks has each tried alone, one after the other', async (t) => {
  const { begin, pass, state, metric } = await openRunRoom(t)
  await begin()[0]?.fail(tooLong)
  pass(14_999)
  assert.equal(begin().length, 0)
  pass(1)
  const [alone] = begin()
  assert.deepEqual(alone?.heights, [3])
  await alone.fail(tooLong)
  assert.deepEqual([state().blocksFailed, state().blocksLeft], [1, 2])
  assert.equal(await metric('blocks_total', { outcome: 'failed' }), 1)
  pass(14_999)
  assert.equal(begin().length, 0)
  pass(1)
  const [next] = begin()
  assert.deepEqual(next?.heights, [2])
  await next.fail(tooLong)
  pass(29_999)
  assert.equal(begin().length, 0)
  pass(1)
  const [last] = begin()
  // The first is due again, a minute after it failed; here 45 s have passed.
  assert.deepEqual(last?.heights, [1])
  await last.end({})
  pass(15_000)
  assert.deepEqual(begin()[0]?.heights, [3])
})

test('a block at its limit is found while new blocks come, and no other one waits for it', async (t) => {
  const { begin, pass, put, state } = await openRunRoom(t, { blocks: 40 })
  const failed: (readonly number[])[] = []
  for (let head = 40; head <= 80; head += 1) {
    if (head > 40) await put(head)
    for (let jobs = begin(); jobs.length > 0; jobs = begin())
      for (const job of jobs)
        if (job.heights.includes(38)) {
          failed.push(job.heights)
          await job.fail(tooLong)
        } else await job.end(...job.heights.map(() => ({})))
    pass(1_000)
  }
  assert.deepEqual(failed, [[40, 39, 38, 37], [38]])
  const { done, blocksFailed, blocksLeft } = state()
  assert.deepEqual(
    [done, blocksFailed, blocksLeft],
    [
      [
        [1, 37],
        [39, 80],
      ],
      1,
      0,
    ],
  )
})

test('rows of new blocks are announced in the order of the chain, whichever job ends first', async (t) => {
  const { begin, put, announced } = await openRunRoom(t, { blocks: 4 })
  await begin()[0]?.end({ rows: 1 }, { rows: 1 }, {}, { rows: 1 })
  assert.deepEqual(announced, [1, 3, 4])
  await put(5)
  const [fifth] = begin()
  await put(6, 7, 8)
  const [later] = begin()
  assert.deepEqual(later?.heights, [6, 7, 8])
  await later.end({ rows: 1 }, { rows: 1 }, { rows: 1 })
  assert.deepEqual(announced, [1, 3, 4])
  await fifth?.end({ rows: 1 })
  assert.deepEqual(announced, [1, 3, 4, 5, 6, 7, 8])
})

test('a job that fails holds back no rows of later blocks', async (t) => {
  const { begin, put, announced } = await openRunRoom(t, { blocks: 1 })
  await begin()[0]?.end({})
  await put(2)
  const [second] = begin()
  await put(3)
  await begin()[0]?.end({ rows: 1 })
  assert.deepEqual(announced, [])
  await second?.fail(tooLong)
  assert.deepEqual(announced, [3])
})

test('what may be the last failures in a row is tried job after job, so that 20 are not exceeded', async (t) => {
  const { begin, state } = await openRunRoom(t, { blocks: 100 })
  await begin()[0]?.end({}, {}, {}, {})
  const failed = { failure: trapped }
  const beside = begin()
  assert.deepEqual(
    beside.map(({ heights }) => heights.length),
    [8, 8],
  )
  for (const job of beside) {
    await job.end(...job.heights.map(() => failed))
    if (job === beside[0]) assert.deepEqual(begin(), [])
  }
  for (let jobs = begin(); jobs.length > 0; jobs = begin()) {
    assert.equal(jobs.length, 1)
    await jobs[0]?.end(...jobs[0].heights.map(() => failed))
  }
  assert.deepEqual([state().name, state().blocksFailed], ['quarantined', 20])
})

test('a View whose process died over several blocks tries each alone at once', async (t) => {
  const { begin } = await openRunRoom(t)
  await begin()[0]?.fail(new ServiceError('LENS_PROCESS_DIED', 'the lens process died'))
  assert.deepEqual(
    begin().map(({ heights }) => heights),
    [[3]],
  )
})

test('a View that is held up by something else says so in the log, unless others are busy', async (t) => {
  const { begin, pass, captured } = await openRunRoom(t)
  await begin()[0]?.fail(new ServiceError('LENS_BUSY', 'too many jobs wait'))
  assert.deepEqual(captured.messages('warn'), [])
  pass(1_000)
  await begin()[0]?.fail(new Error('no thread'))
  const [line] = captured.lines
  assert.deepEqual(
    [line?.level, line?.msg, line?.['view']],
    ['warn', 'blocks of a View are tried again shortly', 'Logs'],
  )
  pass(1_999)
  assert.deepEqual(begin(), [])
  pass(1)
  assert.deepEqual(begin()[0]?.heights, [3, 2, 1])
})

test('a block that was replaced before it came to its limit has not failed; the new one is tried', async (t) => {
  const { begin, store, metric, state } = await openRunRoom(t, { blocks: 1 })
  const [job] = begin()
  await store.replaceBlocks(1, 1, [opaqueBlock(1, 5, 'other')])
  await job?.fail(tooLong)
  assert.deepEqual([state().blocksFailed, await metric('blocks_total')], [0, 0])
  assert.deepEqual(begin()[0]?.heights, [1])
})

test('a block at its limit is tried again after a minute, and then after two', async (t) => {
  const { begin, pass } = await openRunRoom(t, { blocks: 1 })
  for (const minutes of [1, 2, 4]) {
    await begin()[0]?.fail(tooLong)
    pass(minutes * 60_000 - 1)
    assert.deepEqual(begin(), [])
    pass(1)
  }
  assert.deepEqual(begin()[0]?.heights, [1])
})

test('after a start, blocks at their limit are tried again a minute later, and others are not', async (t) => {
  const { store, open, begin, pass, state } = await openRunRoom(t, { blocks: 1_003 })
  const failed = Array.from({ length: 1_003 }, (_, index) => {
    const {
      hash: blockHash,
      root: documentsRoot,
      number: height,
    } = opaqueBlock(index + 1, 5).header
    const code = height === 1_000 ? 'LENS_TRAPPED' : 'LENS_TIME_LIMIT'
    const failure = encodeFailure({ ...trapped, code })
    return { height, blockHash, documentsRoot, failure }
  })
  await store.putViewRows(view.slot, failed)
  await open()
  assert.deepEqual([state().blocksLeft, begin()], [0, []])
  pass(59_999)
  assert.equal(state().blocksLeft, 0)
  pass(1)
  // The newest 1,000 failures were looked at, one of which is of another kind.
  assert.equal(state().blocksLeft, 999)
  assert.deepEqual(begin()[0]?.heights, [1_003])
})

test('what a View still computes as it is closed is given up, and counts for nothing', async (t) => {
  const { begin, open, store, metric, captured } = await openRunRoom(t)
  const run = await open()
  const [job] = begin()
  assert.equal(job?.job.signal?.aborted, false)
  const closed = run.close()
  assert.equal(job?.job.signal?.aborted, true)
  await job?.fail(tooLong)
  await closed
  assert.deepEqual([begin(), captured.lines, await metric('blocks_total')], [[], [], 0])
  assert.deepEqual(
    store.reader.read((snapshot) => snapshot.viewFailures(view.slot)),
    [],
  )
})
