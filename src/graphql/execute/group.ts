/**
 * Groups rows by keys and aggregates each group. A filter on values works before grouping, one on
 * aliases (`_alias`) after it; order, offset and limit count groups. Where it can be, a value is
 * added when its row arrives, so that no rows are kept.
 */
import { isObject } from '../../json-object.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { MemoryReservation } from '../budget/query-budget.ts'
import { visitYielding } from '../budget/yielding-loop.ts'
import { findAttribute } from '../catalog/entity.ts'
import { type AliasScope, noAliases, toCondition } from '../filter/filter.ts'
import { everyRow, type ListRequest, toListRequest } from '../filter/list-request.ts'
import { type OrderKey, type Ranked, rank, rankedOrder, toOrder } from '../filter/order.ts'
import { type Matcher, toMatcher } from '../filter/predicate.ts'
import { notAKey } from '../plan/compile-group.ts'
import type { GroupListPlan, GroupSelection } from '../plan/plan.ts'
import { type Row, rowAt } from '../rows/row.ts'
import { neededRows, selectAmong, visitRows } from '../scan/select-rows.ts'
import { createTopK } from '../scan/top-k.ts'
import { type Group, type GroupFold, groupFold } from './group-fold.ts'
import { coerceArguments, oncePerRun, type Run, readsSource, scanOf } from './run.ts'

/** What a grouped list asks for before grouping, and from where to where its groups are wanted. */
export const groupRequest: (run: Run, list: GroupListPlan) => ListRequest = oncePerRun(
  (run, { entity, source }) => {
    const args = coerceArguments(run, source)
    const filter = isObject(args['filter']) ? { ...args['filter'], _alias: null } : null
    const written = { ...args, filter, order: null }
    return toListRequest(run.catalog, entity, written, noAliases, source.node)
  },
)

/** The groups of a root list; the caller releases `reservation` once they are rendered. */
export async function rootGroups(
  run: Run,
  list: GroupListPlan,
  request: ListRequest,
  reservation: MemoryReservation,
): Promise<Group[]> {
  const feed: Feed = (add, keys) =>
    visitRows(scanOf(run, list.entity, readsSource(list)), request.condition, add, keys)
  return await makeGroups(run, list, request, feed, reservation)
}

/** The groups among rows in memory, from offset to limit; likewise. */
export async function groupsAmong(
  run: Run,
  list: GroupListPlan,
  rows: readonly Row[],
  reservation: MemoryReservation,
): Promise<Group[]> {
  return await groupsOfRows(run, list, groupRequest(run, list), rows, reservation)
}

/** All groups among rows in memory. */
async function allGroupsAmong(
  run: Run,
  list: GroupListPlan,
  rows: readonly Row[],
  reservation: MemoryReservation,
): Promise<Group[]> {
  const request = { ...groupRequest(run, list), offset: 0, limit: Infinity }
  return await groupsOfRows(run, list, request, rows, reservation)
}

async function groupsOfRows(
  run: Run,
  list: GroupListPlan,
  request: ListRequest,
  rows: readonly Row[],
  reservation: MemoryReservation,
): Promise<Group[]> {
  const { budget } = run.session
  const wanted = { ...everyRow, condition: request.condition }
  const matching = await selectAmong(budget, list.entity, rows, wanted)
  const feed: Feed = async (add, keys) => {
    await visitYielding(budget, matching, (row) => {
      budget.countDocuments(1, keys)
      add(row)
    })
  }
  return await makeGroups(run, list, request, feed, reservation)
}

// --- Building -------------------------------------------------------------------------------

/** Hands over each row; `keys` is how many comparisons it takes to add one. */
type Feed = (add: (row: Row) => void, keys: number) => Promise<void>

/** Memory of a group and of each aggregate and member it keeps, roughly; of its values beside their text. */
const groupBytes = 768
const aggregateBytes = 64
const memberBytes = 64

async function makeGroups(
  run: Run,
  list: GroupListPlan,
  request: ListRequest,
  feed: Feed,
  reservation: MemoryReservation,
): Promise<Group[]> {
  const { budget } = run.session
  const { selection } = list
  const folds = foldsOf(run, selection)
  const keepsRows = needsRows(selection, folds)
  const groups = new Map<JsonValue, Group>()
  let held = 0
  await feed(
    (row) => {
      const group = groupOf(groups, selection, folds, row, reservation)
      if (keepsRows) {
        group.rows.push(copyOf(row))
        reservation.add(memberBytes)
        held++
      }
      for (const [index, fold] of folds.entries()) fold.add(row, group.running[index])
      budget.checkHeld(held + groups.size * (1 + folds.length))
    },
    selection.keys.length + folds.reduce((sum, fold) => sum + fold.comparisons, 0),
  )
  await visitYielding(budget, groups.values(), async (group) => {
    for (const [index, fold] of folds.entries()) {
      group.aggregates[index] = await fold.finish(group.rows, group.running[index], allGroupsAmong)
    }
  })
  return await arrange(run, list, request, groups.values())
}

const foldsOf: (run: Run, selection: GroupSelection) => readonly GroupFold[] = oncePerRun(
  (run, selection) =>
    selection.fields.flatMap((field) =>
      field.type === 'aggregate' ? [groupFold(run, selection.entity, field)] : [],
    ),
)

function needsRows(selection: GroupSelection, folds: readonly GroupFold[]): boolean {
  return folds.some((fold) => fold.needsRows) || selection.fields.some(isMembers)
}

const isMembers = ({ type }: { readonly type: string }): boolean => type === 'members'

const copyOf = (row: Row): Row => rowAt(row.block, row.position)

/** What tells groups apart: a single value by itself, which is quicker, where no text of others can look like it. */
function keyOf({ keys: [first, second] }: GroupSelection, values: readonly JsonValue[]): JsonValue {
  const isAlone = first !== undefined && second === undefined
  return isAlone && !first.list && first.kind !== 'json'
    ? (values[0] ?? null)
    : JSON.stringify(values)
}

function groupOf(
  groups: Map<JsonValue, Group>,
  selection: GroupSelection,
  folds: readonly GroupFold[],
  row: Row,
  reservation: MemoryReservation,
): Group {
  const values = selection.keys.map((key) => key.read(row))
  const key = keyOf(selection, values)
  const known = groups.get(key)
  if (known !== undefined) return known
  reservation.add(groupBytes + folds.length * aggregateBytes + 2 * String(key).length)
  const running = folds.map((fold) => fold.begin())
  const group = { values, first: copyOf(row), rows: [], running, aggregates: [] }
  groups.set(key, group)
  return group
}

// --- Which groups, in which order -----------------------------------------------------------

async function arrange(
  run: Run,
  list: GroupListPlan,
  { offset, limit }: ListRequest,
  groups: Iterable<Group>,
): Promise<Group[]> {
  const { budget } = run.session
  const { cursor, matcher, order } = arrangementOf(run, list)
  const compare = rankedOrder(order)
  const needed = offset + neededRows(limit, budget)
  const first = createTopK<RankedGroup>(needed, (a, b) => compare(a.ranked, b.ranked))
  await visitYielding(budget, groups, (group) => {
    const row = cursor.moveTo(group)
    budget.countComparisons(matcher.comparisons + order.length)
    if (matcher.matches(row)) first.add({ group, ranked: rank(row, order) })
    budget.checkSorted(first.size)
  })
  const sorted = await first.sorted(budget)
  return sorted.slice(offset, offset + limit).map(({ group }) => group)
}

/** How a list's groups are filtered and ordered. */
interface Arrangement {
  readonly cursor: GroupCursor
  readonly matcher: Matcher
  readonly order: readonly OrderKey[]
}

const arrangementOf: (run: Run, list: GroupListPlan) => Arrangement = oncePerRun((run, list) => {
  const args = coerceArguments(run, list.source)
  const { entity } = list
  const cursor = createGroupCursor(list.selection)
  const having = isObject(args['filter']) ? { _alias: args['filter']['_alias'] ?? null } : null
  const condition = toCondition(run.catalog, entity, having, cursor.scope)
  checkOrder(list, args['order'])
  const order = toOrder(run.catalog, entity, args['order'], cursor.scope, list.source.node)
  return { cursor, matcher: toMatcher(entity, condition), order }
})

interface RankedGroup {
  readonly group: Group
  readonly ranked: Ranked
}

/** Groups can be ordered by what all members have in common. */
function checkOrder({ entity, selection, source }: GroupListPlan, order: unknown): void {
  for (const one of Array.isArray(order) ? order : [order]) {
    for (const name of isObject(one) ? Object.keys(one) : []) {
      const attribute = findAttribute(entity, name)
      const isKey = attribute !== undefined && selection.keys.includes(attribute)
      if (!isKey && name !== '_alias') throw notAKey(name, source.node)
    }
  }
}

/** Lets conditions on rows read a group: aliases mean the group it was moved to. */
interface GroupCursor {
  readonly scope: AliasScope
  moveTo(group: Group): Row
}

function createGroupCursor(selection: GroupSelection): GroupCursor {
  let current: Group | undefined
  const aggregates = selection.fields.filter((field) => field.type === 'aggregate')
  return {
    scope(alias) {
      const field = selection.fields.find((one) => one.key === alias)
      if (field?.type === 'aggregate') {
        const index = aggregates.indexOf(field)
        return { computed: { kind: 'int', read: () => current?.aggregates[index] ?? null } }
      }
      const key = field?.type === 'key' ? selection.keys[field.index] : undefined
      return key === undefined ? undefined : { attribute: key }
    },
    moveTo(group) {
      current = group
      return group.first
    },
  }
}
