import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { LoadedView } from '../../../../src/compute/loaded-view.ts'
import { ServiceError } from '../../../../src/errors.ts'
import type { JobResult } from '../../../../src/host/views/engine/block-job.ts'
import { computeBlocks } from '../../../../src/host/views/engine/view-blocks.ts'
import { prepareProgram } from '../../../../src/lens/program/program.ts'
import type { StoreReader } from '../../../../src/store/store.ts'
import { type BlockRows, decodeBlockRows } from '../../../../src/views/rows/block-rows.ts'
import { rowLimits } from '../../../../src/views/rows/row-limits.ts'
import { parseRowType } from '../../../../src/views/rows/row-type.ts'
import { buildLens } from '../../../lens/support/lens.ts'
import { openTestStore } from '../../../support/test-store.ts'
import { engineChain } from './support/engine-room.ts'

/** A View without lenses that reads the given rows of each block, with a clock that stands still. */
async function open(
  t: TestContext,
  rowsOf: (height: number) => readonly unknown[],
  blocks: number,
): Promise<{ view: LoadedView; reader: StoreReader; heights: number[] }> {
  t.mock.method(performance, 'now', () => 0)
  const store = await openTestStore(t)
  const chain = engineChain(blocks)
  await Promise.all(chain.map((block) => store.putSealedBlock(block)))
  const view: LoadedView = {
    rowType: parseRowType('type T { terms: [Int] @index values: JSON }'),
    program: prepareProgram([], null),
    async *documents(_snapshot, height) {
      yield rowsOf(height).map((row) => Buffer.from(JSON.stringify(row)))
    },
  }
  return { view, reader: store.reader, heights: chain.map((_, index) => 100 + index) }
}

const numbers = (count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, index) => from + index)
const blocksOf = ({ rows }: JobResult): BlockRows[] => decodeBlockRows(rows)

describe('what a View makes of blocks', () => {
  it('fails those that are beyond a limit alone, whichever blocks are computed with them', async (t) => {
    const terms = [numbers(10_000), numbers(10_000, 10_000), numbers(1, 20_000)]
    const made: Readonly<Record<number, readonly unknown[]>> = {
      101: [{ values: numbers(rowLimits.rowItems + 1) }],
      102: [{ values: 'x'.repeat(rowLimits.rowBytes) }],
      103: terms.map((each) => ({ terms: each })),
      104: Array.from({ length: 50 }, () => ({ values: 'x'.repeat(rowLimits.rowBytes - 100) })),
    }
    const { view, reader, heights } = await open(t, (height) => made[height] ?? [{ terms: [1] }], 7)
    const together = await computeBlocks(view, reader, heights)
    assert.equal(together.seen, 7)
    assert.deepEqual(
      together.outcomes.map(({ failure }) => failure?.code),
      [undefined, ...Array(4).fill('LENS_OUTPUT_LIMIT'), undefined, undefined],
    )
    const alone: BlockRows[] = []
    for (const height of heights) {
      alone.push(...blocksOf(await computeBlocks(view, reader, [height])))
    }
    assert.deepEqual(blocksOf(together), alone)
  })

  it('fails with the name of the last lens where that returns too much for a row', async (t) => {
    const large = { values: 'x'.repeat(rowLimits.rowBytes) }
    const { view, reader, heights } = await open(t, () => [large], 1)
    const identity = { wasm: buildLens(), args: '' }
    const program = prepareProgram([identity, identity], null)
    const { outcomes } = await computeBlocks({ ...view, program }, reader, heights)
    assert.deepEqual(
      outcomes.map(({ failure }) => failure?.message),
      ['lens 2 returns too much: a row takes more than 262144 bytes'],
    )
  })

  it('is no more in one job than is stored quickly, and the other blocks wait', async (t) => {
    const rows = [{ terms: numbers(10_000) }]
    const { view, reader, heights } = await open(t, () => rows, 30)
    const { seen, outcomes } = await computeBlocks(view, reader, heights)
    assert.equal(seen, 4)
    assert.equal(outcomes.length, 4)
  })

  it('is what takes up to 50 ms in one job, and one block more', async (t) => {
    let nowMs = 1_000
    const rowsOf = (): readonly unknown[] => {
      nowMs += 25
      return [{ terms: [1] }]
    }
    const { view, reader, heights } = await open(t, rowsOf, 5)
    t.mock.method(performance, 'now', () => nowMs)
    assert.equal((await computeBlocks(view, reader, heights)).seen, 3)
  })

  it('is read in snapshots that are released before lenses run, whatever comes of it', async (t) => {
    const { view, reader, heights } = await open(t, () => [{ terms: [1] }], 1)
    let held = 0
    const heldByLens: number[] = []
    const counting: StoreReader = {
      ...reader,
      snapshot: () => {
        held += 1
        const snapshot = reader.snapshot()
        return {
          ...snapshot,
          release: () => {
            held -= 1
            snapshot.release()
          },
        }
      },
    }
    const program: LoadedView['program'] = {
      ...view.program,
      run: (...inputs) => {
        heldByLens.push(held)
        return view.program.run(...inputs)
      },
    }
    const failing = (error: Error): LoadedView => ({
      ...view,
      documents: () => {
        throw error
      },
    })
    const ofView = new ServiceError('VIEWS_SELECTION_TOO_LARGE', 'too much')
    await computeBlocks({ ...view, program }, counting, [...heights, 999])
    await computeBlocks(failing(ofView), counting, heights)
    await assert.rejects(computeBlocks(failing(new Error('disk')), counting, heights), /disk/)
    assert.deepEqual([held, heldByLens], [0, [0]])
  })
})
