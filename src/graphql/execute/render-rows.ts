/**
 * Renders rows and groups into the answer, level by level: all rows of a level at once, then all
 * rows linked to them. Only what is selected is read, and limits are checked while the answer grows.
 */
import type { ByteWriter } from '../../primitives/cbor.ts'
import type { Section } from '../../primitives/collections.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import { mapYielding } from '../budget/yielding-loop.ts'
import type { RowLink } from '../catalog/entity.ts'
import { noAliases, toCondition } from '../filter/filter.ts'
import { toMatcher } from '../filter/predicate.ts'
import type {
  ConstantField,
  GroupField,
  GroupListPlan,
  GroupSelection,
  ListPlan,
  Render,
  RowField,
  RowListPlan,
  RowSelection,
} from '../plan/plan.ts'
import { chargeVersion } from '../plan/version-cost.ts'
import { forget, type Row, rowAt } from '../rows/row.ts'
import { bytesOf } from '../rows/stored-value.ts'
import { putText } from '../rows/write-value.ts'
import { type ChildSelector, createChildSelector, rowsOfSpan } from '../scan/child-rows.ts'
import { selectAmong } from '../scan/select-rows.ts'
import { versionOf } from './commit-view.ts'
import { groupRequest, groupsAmong } from './group.ts'
import { type Group, groupFold } from './group-fold.ts'
import { listText, writerFor } from './json-text.ts'
import { proofOf, sealProofOf } from './proof-view.ts'
import { type ObjectColumn, renderObjects, writeObjects } from './render-objects.ts'
import { rowAggregate } from './row-aggregate.ts'
import { rowRequest } from './row-request.ts'
import { sourcesOf } from './row-source.ts'
import { coerceArguments, oncePerRun, type Run } from './run.ts'

// --- Rows -----------------------------------------------------------------------------------

/** The JSON texts of rows, in their order. The rows' bytes are released. */
export async function renderRows(
  run: Run,
  rows: readonly Row[],
  selection: RowSelection,
): Promise<string[]> {
  return await renderObjects(run.session.budget, rows, columnsOf(run, selection), forget)
}

/** Writes the JSON of rows, in their order; returns where each ends. The rows' bytes are released. */
export async function writeRows(
  run: Run,
  rows: readonly Row[],
  selection: RowSelection,
  out: ByteWriter,
): Promise<number[]> {
  return await writeObjects(run.session.budget, rows, columnsOf(run, selection), forget, out)
}

const columnsOf: (run: Run, selection: RowSelection) => readonly ObjectColumn<Row>[] = oncePerRun(
  (run, selection) => selection.fields.map((field) => columnOf(run, field, selection)),
)

function columnOf(run: Run, field: RowField, { entity }: RowSelection): ObjectColumn<Row> {
  const { key } = field
  const { section } = entity
  switch (field.type) {
    case 'constant':
      return constantColumn(field)
    case 'value':
      return { key, write: valueCell(field, section !== null) }
    case 'aggregate': {
      const aggregate = rowAggregate(run, field)
      return slowColumn(run, key, (row) => JSON.stringify(aggregate(row)))
    }
    case 'source':
      return { key, texts: (rows) => sourcesOf(run, rows, field, renderRows) }
    case 'version':
      return section === null ? textColumn(key, () => '[]') : versionColumn(run, field, section)
    case 'proof':
      return slowColumn(run, key, (row) =>
        JSON.stringify(
          section === null ? sealProofOf(row, field.fields) : proofOf(row, section, field.fields),
        ),
      )
    case 'one':
      return { key, texts: (rows) => renderOne(run, rows, field) }
    case 'many':
      return { key, texts: (rows) => renderMany(run, rows, field) }
  }
}

function constantColumn<T>({ key, value }: ConstantField): ObjectColumn<T> {
  const text = JSON.stringify(value)
  return textColumn(key, () => text)
}

function textColumn<T>(key: string, toText: (item: T) => string): ObjectColumn<T> {
  return { key, write: (out, item) => putText(out, toText(item)) }
}

/** What takes long for one row: others have a turn after each. */
function slowColumn(run: Run, key: string, toText: (row: Row) => string): ObjectColumn<Row> {
  const { budget } = run.session
  const write = (row: Row): string => {
    const text = toText(row)
    forget(row)
    budget.addBytes(text.length)
    return text
  }
  return { key, texts: (rows) => mapYielding(run.session.budget, rows, write) }
}

function versionColumn(
  run: Run,
  { key, fields }: Extract<RowField, { type: 'version' }>,
  section: Section,
): ObjectColumn<Row> {
  return slowColumn(run, key, (row) => {
    chargeVersion(run.session.budget, fields, bytesOf(row, section).length)
    return JSON.stringify(versionOf(row, section, fields))
  })
}

function valueCell(
  { attribute, render }: Extract<RowField, { type: 'value' }>,
  isStored: boolean,
): (out: ByteWriter, row: Row) => void {
  const { read, write } = attribute
  if (render === null && write !== undefined) return write
  const toText = writerFor(attribute, isStored)
  return render === null
    ? (out, row) => putText(out, toText(read(row)))
    : (out, row) => putText(out, toText(render(read(row))))
}

type OneField = Extract<RowField, { type: 'one' }>

/** The filter of a single link. */
const filterOf: (run: Run, field: OneField) => (row: Row) => boolean = oncePerRun(
  (run, { target, source }) => {
    const filter = coerceArguments(run, source)['filter']
    const condition = toCondition(run.catalog, target, filter, noAliases)
    const { matches, comparisons } = toMatcher(target, condition)
    return (row) => {
      run.session.budget.countDocuments(1, comparisons)
      return matches(row)
    }
  },
)

/** Renders single links; neighbours with the same linked row share its text. */
async function renderOne(
  run: Run,
  rows: readonly Row[],
  field: OneField,
): Promise<readonly string[]> {
  const { budget } = run.session
  const { linked, places } = linkedRows(rows, field.link)
  const isKept = await mapYielding(budget, linked, filterOf(run, field))
  const kept = linked.filter((_, index) => isKept[index])
  const rendered = (await renderRows(run, kept, field.selection)).values()
  const results = isKept.map((isIn) => (isIn ? rendered.next().value : 'null'))
  return places.map((place, index) => {
    const text = results[place] ?? 'null'
    if (places[index - 1] === place) budget.addBytes(text.length)
    return text
  })
}

/** The rows at the other end of a single link, each once among neighbours, and the place of each row's. */
function linkedRows(
  rows: readonly Row[],
  link: RowLink,
): { readonly linked: readonly Row[]; readonly places: readonly number[] } {
  const linked: Row[] = []
  const places = rows.map((row) => {
    const [position] = link.span(row)
    const last = linked.at(-1)
    if (last?.block !== row.block || last.position !== position) {
      linked.push(rowAt(row.block, position))
    }
    return linked.length - 1
  })
  return { linked, places }
}

async function renderMany(
  run: Run,
  rows: readonly Row[],
  { link, list }: Extract<RowField, { type: 'many' }>,
): Promise<readonly string[]> {
  return list.type === 'groups'
    ? await mapYielding(run.session.budget, rows, (row) =>
        renderGroupList(run, list, linkedTo(row, link)),
      )
    : await renderLists(run, list, await childrenOf(run, rows, link, list))
}

const selectorOf: (run: Run, list: RowListPlan) => ChildSelector = oncePerRun((run, list) =>
  createChildSelector(list.entity, rowRequest(run, list)),
)

async function childrenOf(
  run: Run,
  rows: readonly Row[],
  link: RowLink,
  list: RowListPlan,
): Promise<readonly (readonly Row[])[]> {
  const select = selectorOf(run, list)
  return await mapYielding(run.session.budget, rows, (row) => {
    const children = select(row.block, link.span(row))
    run.session.budget.addRows(children.length)
    return children
  })
}

const linkedTo = (row: Row, link: RowLink): readonly Row[] =>
  rowsOfSpan(row.block, link.span(row), false, 0, Infinity)

/** Renders the rows of many lists as one level. */
async function renderLists(
  run: Run,
  list: RowListPlan,
  lists: readonly (readonly Row[])[],
): Promise<readonly string[]> {
  const texts = await renderRows(run, lists.flat(), list.selection)
  let at = 0
  return await mapYielding(run.session.budget, lists, (rows) => {
    const start = at
    at += rows.length
    return listText(run.session.budget, texts.slice(start, at))
  })
}

/**
 * Reads the arguments of a list and of everything below it, so that what is wrong with them shows before there
 * are rows. Throws GraphQLError as reading the rows would.
 */
export function readArguments(run: Run, list: ListPlan): void {
  if (list.type === 'groups') {
    groupRequest(run, list)
    for (const field of list.selection.fields) {
      if (field.type === 'members') readArguments(run, field.list)
      else if (field.type === 'aggregate') groupFold(run, list.entity, field)
    }
    return
  }
  rowRequest(run, list)
  readSelection(run, list.selection)
}

function readSelection(run: Run, selection: RowSelection): void {
  columnsOf(run, selection)
  for (const field of selection.fields) {
    if (field.type === 'many') readArguments(run, field.list)
    if (field.type !== 'one') continue
    filterOf(run, field)
    readSelection(run, field.selection)
  }
}

// --- Groups ---------------------------------------------------------------------------------

/** The list of the groups among rows in memory. */
async function renderGroupList(
  run: Run,
  list: GroupListPlan,
  rows: readonly Row[],
): Promise<string> {
  const { budget } = run.session
  const reservation = budget.openReservation()
  const groups = await groupsAmong(run, list, rows, reservation)
  const texts = await renderGroups(run, groups, list.selection)
  reservation.release()
  return await listText(budget, texts)
}

/** The JSON texts of groups, in their order. */
export async function renderGroups(
  run: Run,
  groups: readonly Group[],
  selection: GroupSelection,
): Promise<string[]> {
  const { budget } = run.session
  budget.addRows(groups.length)
  const aggregates = selection.fields.filter(({ type }) => type === 'aggregate')
  const columns = selection.fields.map((field) =>
    groupColumn(run, field, aggregates.indexOf(field)),
  )
  return await renderObjects(budget, groups, columns, () => undefined)
}

async function renderMembers(
  run: Run,
  groups: readonly Group[],
  list: ListPlan,
): Promise<readonly string[]> {
  return list.type === 'groups'
    ? await mapYielding(run.session.budget, groups, (group) =>
        renderGroupList(run, list, group.rows),
      )
    : await renderLists(run, list, await membersOf(run, groups, list))
}

async function membersOf(
  run: Run,
  groups: readonly Group[],
  list: RowListPlan,
): Promise<readonly (readonly Row[])[]> {
  const { budget } = run.session
  const request = rowRequest(run, list)
  return await mapYielding(budget, groups, async ({ rows }) => {
    const members = await selectAmong(budget, list.entity, rows, request)
    budget.addRows(members.length)
    return members
  })
}

function groupColumn(run: Run, field: GroupField, aggregate: number): ObjectColumn<Group> {
  const { key } = field
  switch (field.type) {
    case 'constant':
      return constantColumn(field)
    case 'key':
      return textColumn(key, ({ values }) =>
        JSON.stringify(keyValue(values[field.index] ?? null, field.render)),
      )
    case 'aggregate':
      return textColumn(key, (group) => JSON.stringify(group.aggregates[aggregate] ?? null))
    case 'members':
      return { key, texts: (groups) => renderMembers(run, groups, field.list) }
  }
}

function keyValue(value: JsonValue, render: Render | null): JsonValue {
  return render === null ? value : render(value)
}
