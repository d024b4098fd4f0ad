/**
 * Groups rows by keys and aggregates each group. A filter on values works before grouping, one on
 * aliases (`_alias`) after it; order, offset and limit count groups. Where it can be, a value is
 * added when its row arrives, so that no rows are kept.
 */
import type { Value } from '../primitives/collections.ts'
import type { Accumulator } from './accumulator.ts'
import { notAKey } from './compile-group.ts'
import { type AliasScope, findAttribute, noAliases, toCondition } from './filter.ts'
import { type GroupFold, groupFold } from './group-fold.ts'
import { toListRequest } from './list-request.ts'
import { isInput } from './operand.ts'
import { type Ranked, rank, rankedOrder, toOrder } from './order.ts'
import type { GroupListPlan, GroupSelection } from './plan.ts'
import { toPredicate } from './predicate.ts'
import { type Row, rowAt } from './row.ts'
import { coerceArguments, type Run, scanOf } from './run.ts'
import { everyRow, type ListRequest, neededRows, selectAmong, visitRows } from './select-rows.ts'
import { createSmallest } from './smallest.ts'

/** Rows with equal keys. */
export interface Group {
  /** In the order of the selection's keys. */
  readonly values: readonly Value[]
  /** The first member in chain order. */
  readonly first: Row
  /** All members in chain order, where something needs them. */
  readonly rows: Row[]
  /** Aggregates while rows arrive, by their place among the selection's aggregates. */
  readonly running: readonly Accumulator[]
  /** Finished aggregates, likewise. */
  readonly aggregates: (number | null)[]
}

/** What a grouped list asks for before grouping, and from where to where its groups are wanted. */
export function groupRequest(run: Run, { entity, source }: GroupListPlan): ListRequest {
  const args = coerceArguments(run, source)
  const filter = isInput(args['filter']) ? { ...args['filter'], _alias: null } : null
  return toListRequest(
    run.catalog,
    entity,
    { ...args, filter, order: null },
    noAliases,
    source.node,
  )
}

/** The groups of a root list. */
export async function rootGroups(
  run: Run,
  list: GroupListPlan,
  request: ListRequest,
): Promise<Group[]> {
  const feed: Feed = (add) => visitRows(scanOf(run, list.entity), request.condition, add)
  return await makeGroups(run, list, request, feed)
}

/** The groups among rows that are at hand, from offset to limit. */
export async function groupsAmong(
  run: Run,
  list: GroupListPlan,
  rows: readonly Row[],
): Promise<Group[]> {
  return await groupsOfRows(run, list, groupRequest(run, list), rows)
}

/** All groups among rows that are at hand. */
async function allGroupsAmong(
  run: Run,
  list: GroupListPlan,
  rows: readonly Row[],
): Promise<Group[]> {
  const request = { ...groupRequest(run, list), offset: 0, limit: Infinity }
  return await groupsOfRows(run, list, request, rows)
}

async function groupsOfRows(
  run: Run,
  list: GroupListPlan,
  request: ListRequest,
  rows: readonly Row[],
): Promise<Group[]> {
  const matching = selectAmong(list.entity, rows, { ...everyRow, condition: request.condition })
  const { work } = run.session
  return await makeGroups(run, list, request, async (add) => {
    for (const row of matching) {
      work.look(1)
      add(row)
      if (work.isDue()) await work.turn()
    }
  })
}

// --- Building -------------------------------------------------------------------------------

type Feed = (add: (row: Row) => void) => Promise<void>

async function makeGroups(
  run: Run,
  list: GroupListPlan,
  request: ListRequest,
  feed: Feed,
): Promise<Group[]> {
  const { work } = run.session
  const folds = foldsOf(run, list.selection)
  const keepsRows = needsRows(list.selection, folds)
  const groups = new Map<Value, Group>()
  let held = 0
  await feed((row) => {
    const group = groupOf(groups, list.selection, folds, row)
    if (keepsRows) group.rows.push(copyOf(row))
    for (const [index, fold] of folds.entries()) fold.add(row, group.running[index])
    if (keepsRows) held++
    work.hold(held + groups.size * (1 + folds.length))
  })
  for (const group of groups.values()) {
    for (const [index, fold] of folds.entries()) {
      group.aggregates[index] = await fold.finish(group.rows, group.running[index], allGroupsAmong)
    }
    if (work.isDue()) await work.turn()
  }
  return await arrange(run, list, request, groups.values())
}

function foldsOf(run: Run, selection: GroupSelection): readonly GroupFold[] {
  return selection.fields.flatMap((field) =>
    field.type === 'aggregate' ? [groupFold(run, selection.entity, field)] : [],
  )
}

function needsRows(selection: GroupSelection, folds: readonly GroupFold[]): boolean {
  return folds.some((fold) => fold.needsRows) || selection.fields.some(isMembers)
}

const isMembers = ({ type }: { readonly type: string }): boolean => type === 'members'

const copyOf = (row: Row): Row => rowAt(row.block, row.position)

function groupOf(
  groups: Map<Value, Group>,
  selection: GroupSelection,
  folds: readonly GroupFold[],
  row: Row,
): Group {
  const values = selection.keys.map((key) => key.read(row))
  const [only] = values
  const isSimple = values.length === 1 && only !== undefined && typeof only !== 'object'
  const key = isSimple ? only : JSON.stringify(values)
  const known = groups.get(key)
  if (known !== undefined) return known
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
  const { work } = run.session
  const args = coerceArguments(run, list.source)
  const { entity } = list
  const cursor = createGroupCursor(list.selection)
  const having = isInput(args['filter']) ? { _alias: args['filter']['_alias'] ?? null } : null
  const matches = toPredicate(entity, toCondition(run.catalog, entity, having, cursor.scope))
  checkOrder(list, args['order'])
  const order = toOrder(run.catalog, entity, args['order'] ?? [], cursor.scope, list.source.node)
  const compare = rankedOrder(order)
  const needed = offset + neededRows(limit, work)
  const first = createSmallest<RankedGroup>(needed, (a, b) => compare(a.ranked, b.ranked))
  for (const group of groups) {
    const row = cursor.moveTo(group)
    if (matches(row)) first.add({ group, ranked: rank(row, order) })
    work.holdSorted(first.size)
    if (work.isDue()) await work.turn()
  }
  return first
    .sorted()
    .slice(offset, offset + limit)
    .map(({ group }) => group)
}

interface RankedGroup {
  readonly group: Group
  readonly ranked: Ranked
}

/** Groups can be ordered by what all members have in common. */
function checkOrder({ entity, selection, source }: GroupListPlan, order: unknown): void {
  for (const one of Array.isArray(order) ? order : [order]) {
    for (const name of isInput(one) ? Object.keys(one) : []) {
      const attribute = findAttribute(entity, name)
      const isKey = attribute !== undefined && selection.keys.includes(attribute)
      if (!isKey && name !== '_alias') throw notAKey(name, source.node)
    }
  }
}

/** Lets conditions on rows read a group: aliases answer for the group it was moved to. */
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
