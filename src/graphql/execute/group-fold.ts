/**
 * An aggregate over the members of a group: added up while rows arrive, or taken from the kept rows
 * at the end where an offset, a limit or an inner aggregate asks for it.
 */
import { invariant } from '../../errors.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { MemoryReservation } from '../budget/query-budget.ts'
import { visitYielding } from '../budget/yielding-loop.ts'
import type { Entity } from '../catalog/entity.ts'
import { foldOf } from '../catalog/spelling.ts'
import { noAliases } from '../filter/filter.ts'
import { type Arguments, type ListRequest, toListRequest } from '../filter/list-request.ts'
import { type Matcher, toMatcher } from '../filter/predicate.ts'
import type { AggregateField, AggregateTarget, GroupListPlan, ListPlan } from '../plan/plan.ts'
import type { Row } from '../rows/row.ts'
import { selectAmong } from '../scan/select-rows.ts'
import { type Accumulator, addCount, addValue, createAccumulator, resultOf } from './accumulator.ts'
import { missingInner, selectorOf, type ValueReader, valueReader } from './row-aggregate.ts'
import { coerceArguments, type Run } from './run.ts'

/** Makes all inner groups of a group; what is shown of them is another question. */
type MakeGroups = (
  run: Run,
  list: GroupListPlan,
  rows: readonly Row[],
  reservation: MemoryReservation,
) => Promise<Group[]>

/** One aggregate, ready for a request. */
export interface GroupFold {
  /** True when the members must be kept until the end. */
  readonly needsRows: boolean
  /** How many comparisons it takes to add a row. */
  readonly comparisons: number
  begin(): Accumulator
  add(row: Row, running: Accumulator | undefined): void
  finish(
    rows: readonly Row[],
    running: Accumulator | undefined,
    makeGroups: MakeGroups,
  ): Promise<number | null>
}

/** Prepares an aggregate of a grouped selection. */
export function groupFold(run: Run, entity: Entity, field: AggregateField): GroupFold {
  const args = coerceArguments(run, field.source)
  const parts = field.targets.map((target) => partOf(run, entity, field, target, args))
  const late = parts.filter((part) => part.isLate)
  return {
    needsRows: late.length > 0,
    comparisons: parts.reduce((sum, part) => sum + (part.isLate ? 0 : part.matcher.comparisons), 0),
    begin: () => createAccumulator(field.fold),
    add(row, running) {
      for (const part of parts)
        if (!part.isLate && part.matcher.matches(row)) addRow(part, row, running)
    },
    async finish(rows, running, makeGroups) {
      invariant(running !== undefined, 'a group has an accumulator for each aggregate')
      for (const part of late) await addLate(run, entity, part, rows, running, makeGroups)
      return resultOf(running)
    },
  }
}

/** What one target of an aggregate adds. */
interface Part {
  readonly request: ListRequest
  readonly matcher: Matcher
  /** Null where rows are counted. */
  readonly reader: ValueReader | null
  /** True when it needs all members at once. */
  readonly isLate: boolean
  /** Set for an aggregate over the aggregates of inner groups. */
  readonly inner: { readonly list: GroupListPlan; readonly index: number } | null
}

function partOf(
  run: Run,
  entity: Entity,
  field: AggregateField,
  target: AggregateTarget,
  args: Arguments,
): Part {
  invariant(target.type === 'group', `a group has no aggregate over a ${target.type}`)
  const selector = selectorOf(args, target)
  const request = toListRequest(run.catalog, entity, selector, noAliases, field.source.node)
  const matcher = toMatcher(entity, request.condition)
  const inner = innerGroups(field, selector, target.members)
  const members = target.members?.type === 'rows' ? target.members.selection.fields : []
  const innerFields = members.filter((one) => one.type === 'aggregate')
  const isPart = request.offset > 0 || request.limit !== Infinity
  return {
    request,
    matcher,
    inner,
    isLate: isPart || inner !== null,
    reader: inner === null ? valueReader(run, field, entity, selector, innerFields) : null,
  }
}

function innerGroups(
  field: AggregateField,
  selector: Arguments,
  members: ListPlan | null,
): Part['inner'] {
  const name = String(selector['field'])
  const fold = foldOf(name)
  if (fold === undefined || members?.type !== 'groups') return null
  const aggregates = members.selection.fields.filter((one) => one.type === 'aggregate')
  const index = aggregates.findIndex((one) => one.fold === fold)
  if (index < 0) throw missingInner(name, field.source.node)
  return { list: members, index }
}

function addRow(part: Part, row: Row, running: Accumulator | undefined): void {
  if (running === undefined) return
  if (part.reader === null) addCount(running, 1)
  else addValue(running, part.reader.kind, part.reader.read(row))
}

async function addLate(
  run: Run,
  entity: Entity,
  part: Part,
  rows: readonly Row[],
  running: Accumulator,
  makeGroups: MakeGroups,
): Promise<void> {
  const { budget } = run.session
  const selected = await selectAmong(budget, entity, rows, part.request)
  if (part.inner === null) {
    await visitYielding(budget, selected, (row) => addRow(part, row, running))
    return
  }
  const { list, index } = part.inner
  const reservation = budget.openReservation()
  for (const group of await makeGroups(run, list, selected, reservation)) {
    addValue(running, 'int', group.aggregates[index] ?? null)
  }
  reservation.release()
}

/** Rows with equal keys. */
export interface Group {
  /** In the order of the selection's keys. */
  readonly values: readonly JsonValue[]
  /** The first member in chain order. */
  readonly first: Row
  /** All members in chain order, where something needs them. */
  readonly rows: Row[]
  /** Aggregates while rows arrive, by their place among the selection's aggregates. */
  readonly running: readonly Accumulator[]
  /** Finished aggregates, likewise. */
  readonly aggregates: (number | null)[]
}
