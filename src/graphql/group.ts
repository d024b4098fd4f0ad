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
import { type OrderKey, type Ranked, rank, rankedOrder, toOrder } from './order.ts'
import type { GroupListPlan, GroupSelection } from './plan.ts'
import { type Matcher, toMatcher } from './predicate.ts'
import { type Row, rowAt } from './row.ts'
import { coerceArguments, oncePerRun, type Run, scanOf } from './run.ts'
import { everyRow, type ListRequest, neededRows, selectAmong, visitRows } from './select-rows.ts'
import { createSmallest } from './smallest.ts'
import type { Keeping } from './work.ts'

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
export const groupRequest: (run: Run, list: GroupListPlan) => ListRequest = oncePerRun(
  (run, { entity, source }) => {
    const args = coerceArguments(run, source)
    const filter = isInput(args['filter']) ? { ...args['filter'], _alias: null } : null
    const written = { ...args, filter, order: null }
    return toListRequest(run.catalog, entity, written, noAliases, source.node)
  },
)

/** The groups of a root list; `keeping` ends when they were shown. */
export async function rootGroups(
  run: Run,
  list: GroupListPlan,
  request: ListRequest,
  keeping: Keeping,
): Promise<Group[]> {
  const feed: Feed = (add, keys) =>
    visitRows(scanOf(run, list.entity), request.condition, add, keys)
  return await makeGroups(run, list, request, feed, keeping)
}

/** The groups among rows that are at hand, from offset to limit; likewise. */
export async function groupsAmong(
  run: Run,
  list: GroupListPlan,
  rows: readonly Row[],
  keeping: Keeping,
): Promise<Group[]> {
  return await groupsOfRows(run, list, groupRequest(run, list), rows, keeping)
}

/** All groups among rows that are at hand. */
async function allGroupsAmong(
  run: Run,
  list: GroupListPlan,
  rows: readonly Row[],
  keeping: Keeping,
): Promise<Group[]> {
  const request = { ...groupRequest(run, list), offset: 0, limit: Infinity }
  return await groupsOfRows(run, list, request, rows, keeping)
}

async function groupsOfRows(
  run: Run,
  list: GroupListPlan,
  request: ListRequest,
  rows: readonly Row[],
  keeping: Keeping,
): Promise<Group[]> {
  const { work } = run.session
  const wanted = { ...everyRow, condition: request.condition }
  const matching = await selectAmong(work, list.entity, rows, wanted)
  const feed: Feed = async (add, keys) => {
    for (const row of matching) {
      work.look(1, keys)
      add(row)
      if (work.isDue()) await work.turn()
    }
  }
  return await makeGroups(run, list, request, feed, keeping)
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
  keeping: Keeping,
): Promise<Group[]> {
  const { work } = run.session
  const { selection } = list
  const folds = foldsOf(run, selection)
  const keepsRows = needsRows(selection, folds)
  const groups = new Map<Value, Group>()
  let held = 0
  await feed(
    (row) => {
      const group = groupOf(groups, selection, folds, row, keeping)
      if (keepsRows) {
        group.rows.push(copyOf(row))
        keeping.add(memberBytes)
        held++
      }
      for (const [index, fold] of folds.entries()) fold.add(row, group.running[index])
      work.hold(held + groups.size * (1 + folds.length))
    },
    selection.keys.length + folds.reduce((sum, fold) => sum + fold.comparisons, 0),
  )
  for (const group of groups.values()) {
    for (const [index, fold] of folds.entries()) {
      group.aggregates[index] = await fold.finish(group.rows, group.running[index], allGroupsAmong)
    }
    if (work.isDue()) await work.turn()
  }
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

function groupOf(
  groups: Map<Value, Group>,
  selection: GroupSelection,
  folds: readonly GroupFold[],
  row: Row,
  keeping: Keeping,
): Group {
  const values = selection.keys.map((key) => key.read(row))
  const [only] = values
  const isSimple = values.length === 1 && only !== undefined && typeof only !== 'object'
  const key = isSimple ? only : JSON.stringify(values)
  const known = groups.get(key)
  if (known !== undefined) return known
  keeping.add(groupBytes + folds.length * aggregateBytes + 2 * String(key).length)
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
  const { cursor, matcher, order } = arrangementOf(run, list)
  const compare = rankedOrder(order)
  const needed = offset + neededRows(limit, work)
  const first = createSmallest<RankedGroup>(needed, (a, b) => compare(a.ranked, b.ranked))
  for (const group of groups) {
    const row = cursor.moveTo(group)
    work.compare(matcher.comparisons + order.length)
    if (matcher.matches(row)) first.add({ group, ranked: rank(row, order) })
    work.holdSorted(first.size)
    if (work.isDue()) await work.turn()
  }
  const sorted = await first.sorted(work)
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
  const having = isInput(args['filter']) ? { _alias: args['filter']['_alias'] ?? null } : null
  const condition = toCondition(run.catalog, entity, having, cursor.scope)
  checkOrder(list, args['order'])
  const order = toOrder(run.catalog, entity, args['order'] ?? [], cursor.scope, list.source.node)
  return { cursor, matcher: toMatcher(entity, condition), order }
})

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
