/** Who names blocks of which a View has no rows is refused; who asks for more is told, by the heights that are noted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewEntity } from '../../../src/graphql/catalog/view-entity.ts'
import type { FilterCondition } from '../../../src/graphql/filter/condition.ts'
import type { Operand, Operator } from '../../../src/graphql/filter/value-test.ts'
import type { Session } from '../../../src/graphql/rows/block-view.ts'
import {
  createMissingRows,
  type MissingBlocks,
  nothingMissing,
  type ViewQuarantine,
} from '../../../src/graphql/rows/missing-rows.ts'
import { checkCoverage } from '../../../src/graphql/scan/view-coverage.ts'
import { allHeights, type HeightRanges } from '../../../src/primitives/height-ranges.ts'
import { rowID } from '../../../src/views/rows/row-id.ts'
import { createTestBudget } from '../support/graphql-room.ts'
import { servedView, storedFailure } from '../support/served-views.ts'

const served = servedView('type Counted { n: Int }')
const entity = viewEntity(served, null)
const view = entity.view ?? assert.fail('it is a View')
const last = Number.MAX_SAFE_INTEGER

/** Blocks 10 to 19 may come, 20 failed, 21 failed and is tried again, and 1 to 5 are lost. */
const missing: MissingBlocks = { notDone: [[10, 19]], failed: [[20, 21]], lost: [[1, 5]] }

const hashOf = (height: number): string => `0x${height.toString(16).padStart(64, '0')}`
const idOf = (height: number, of = served.id): string =>
  rowID({ view: of, blockHash: hashOf(height), position: 0 })

function asked(
  name: string,
  operator: Operator,
  operand: Operand | readonly Operand[],
): FilterCondition {
  const attribute = entity.attributes.get(name) ?? assert.fail(name)
  return { op: 'value', attribute, operator, operand }
}
const number = (operator: Operator, operand: Operand | readonly Operand[]) =>
  asked('_blockNumber', operator, operand)
const docID = (operator: Operator, operand: Operand | readonly Operand[]) =>
  asked('_docID', operator, operand)
const and = (...parts: FilterCondition[]): FilterCondition => ({ op: 'and', parts })
const or = (...parts: FilterCondition[]): FilterCondition => ({ op: 'or', parts })
const other = asked('n', '_eq', 7)

/** What is noted for a condition, or the message of its refusal; and what finding it out costs. */
async function check(
  condition: FilterCondition,
  lacks = missing,
  quarantine: ViewQuarantine | null = null,
): Promise<{ found: readonly HeightRanges[] | string; cost: number }> {
  const noted: HeightRanges[] = []
  const budget = createTestBudget()
  const snapshot = {
    viewFailure: (_: number, height: number) => (height === 20 ? storedFailure : undefined),
    rowBlocks: {
      heightOf: (hash: string) => [3, 10, 20, 30].find((height) => hashOf(height) === hash),
    },
  }
  const gaps = {
    help: 'See there.',
    missingOf: () => lacks,
    quarantineOf: (_: unknown, { id, slot }: { readonly id: string; readonly slot: number }) =>
      id === served.id && slot === served.slot ? quarantine : null,
  }
  const note = (_: unknown, heights: HeightRanges) => noted.push(heights)
  const session = {
    ...{ budget, snapshot },
    missing: { ...createMissingRows({} as never, gaps), note },
  } as unknown as Session
  const found = await checkCoverage(session, entity, view, condition).then(
    () => noted,
    ({ message }: Error) => message,
  )
  return { found, cost: budget.usage().cost }
}

const failed =
  'The View Counted failed at block 20, so that it has no rows of it: lens 2 trapped in transform: unreachable. See there.'
const again =
  'The View Counted failed at block 21, so that it has no rows of it: it is tried again. See there.'
const left =
  'The rows of the View Counted at block 10 are not stored yet. Ask again later. See there.'
const lost =
  'There are no rows of the View Counted at block 3: they went because the View took too much of the store, or were not computed before the block was pruned. Ask a Host that keeps more. See there.'

const everywhere = [allHeights]
const none: HeightRanges[] = []
const tenOrAbove: HeightRanges = [
  [10, 10],
  [25, last],
]

/** Conditions, what is said of them, and how many hashes of blocks are looked up for that. */
type Case<T> = readonly [name: string, condition: FilterCondition, said: T, hashes?: number]

const refused: readonly Case<string>[] = [
  ['a block that may come', number('_eq', 10), left],
  ['a block that failed', number('_eq', 20), failed],
  ['a block that failed and is tried again', number('_eq', 21), again],
  ['a block that is lost', number('_eq', 3), lost],
  ['several blocks, of which one failed', number('_in', [3, 10, 20]), failed],
  ['several blocks, of which one may come', number('_in', [3, 10]), left],
  ['a range of one block', and(number('_geq', 10), number('_leq', 10)), left],
  ['another field of a block', and(other, number('_eq', 10)), left],
  ['one of two blocks', or(number('_eq', 30), number('_eq', 10)), left],
  ['another field of blocks', and(other, number('_in', [10, 30])), left],
  ['blocks that failed', number('_in', [20, 21]), failed],
  ['blocks that may come', number('_in', [10, 11]), left],
  ['blocks that are lost', number('_in', [3, 4]), lost],
  ['a row of a block', docID('_eq', idOf(10)), left, 1],
  ['rows of blocks', docID('_in', [idOf(30), idOf(10)]), left, 2],
]

for (const [name, condition, said, hashes = 0] of refused)
  test(`who asks for ${name} is refused: the View has no rows of it`, async () => {
    assert.deepEqual(await check(condition), { found: said, cost: 1 + 8 * hashes })
  })

const answered: readonly Case<readonly HeightRanges[]>[] = [
  ['a block that is done', number('_eq', 30), none],
  ['one of two blocks that are done', or(number('_eq', 30), number('_eq', 32)), none],
  ['a range', and(number('_geq', 8), number('_leq', 30)), [[[8, 30]]]],
  ['a range without an end', number('_geq', 8), [[[8, last]]]],
  ['another field', other, everywhere],
  ['another field or a block', or(other, number('_eq', 10)), everywhere],
  ['a block or a range', or(number('_eq', 10), number('_geq', 25)), [tenOrAbove]],
  ['all but a block', { op: 'not', part: number('_eq', 10) }, everywhere],
  ['a row of a block that is not known', docID('_eq', idOf(99)), none, 1],
  ['a row of another View', docID('_eq', idOf(10, hashOf(9))), none],
  ['a row without a docID, or of a block', docID('_in', [null, idOf(10)]), everywhere],
  ['all rows but one', docID('_neq', idOf(10)), everywhere],
]

for (const [name, condition, noted, hashes = 0] of answered)
  test(`who asks for ${name} is answered, and what it is about is noted`, async () => {
    assert.deepEqual(await check(condition), { found: noted, cost: 1 + 8 * hashes })
  })

test('where nothing is missing nothing is looked up, and where no such thing is known either', async () => {
  assert.deepEqual(await check(docID('_eq', idOf(10)), nothingMissing), { found: [], cost: 0 })
  for (const some of [
    { ...nothingMissing, notDone: missing.notDone, failed: missing.failed },
    { ...nothingMissing, notDone: missing.notDone, lost: missing.lost },
  ])
    assert.deepEqual(await check(other, some), { found: everywhere, cost: 1 })
  const session = { missing: null } as unknown as Session
  await checkCoverage(session, entity, view, number('_eq', 10))
})

test('a block of a quarantined View that was not done is refused with the reason and the remedy', async () => {
  const trapped = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', remedy: 'Correct it.' }
  const ten = number('_eq', 10)
  const retry = `POST /api/v0/views/${served.id}/retry with the admin token of the Host ends the quarantine. See there.`
  assert.equal(
    (await check(ten, missing, { ...trapped, block: 9 })).found,
    `The View Counted has no rows of block 10, as it is quarantined since it failed at block 9: lens 1 trapped. Correct it. ${retry}`,
  )
  const unloaded = { code: 'LENS_MODULE_REFUSED', message: 'it is no module', block: null }
  assert.equal(
    (await check(ten, missing, unloaded)).found,
    `The View Counted has no rows of block 10, as it is quarantined since it failed: it is no module. Mend the View and deploy it anew. ${retry}`,
  )
  assert.equal((await check(number('_eq', 3), missing, unloaded)).found, lost)
  assert.equal((await check(number('_eq', 20), missing, unloaded)).found, failed)
})
