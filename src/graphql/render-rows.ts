/**
 * Renders rows and groups into the answer, level by level: all rows of a level at once, then all
 * rows linked to them. Only what is selected is read, and limits are checked while the answer grows.
 */
import type { Value } from '../primitives/collections.ts'
import { aliasScope } from './alias-scope.ts'
import { type Json, proofOf, versionOf } from './commit-view.ts'
import type { Link } from './entity.ts'
import { noAliases, toCondition } from './filter.ts'
import { type Group, type GroupList, groupsAmong } from './group.ts'
import { jsonBytes, keyBytes } from './json-size.ts'
import { toListRequest } from './list-request.ts'
import type {
  GroupField,
  GroupSelection,
  ListPlan,
  Render,
  RowField,
  RowSelection,
} from './plan.ts'
import { toPredicate } from './predicate.ts'
import { forget, type Row, rowAt } from './row.ts'
import { rowAggregate } from './row-aggregate.ts'
import { coerceArguments, type Run } from './run.ts'
import { createChildSelector, type ListRequest, selectAmong } from './select-rows.ts'

/** An object of the answer while it is made. */
export type JsonObject = { [key: string]: Json }

type RowList = Extract<ListPlan, { type: 'rows' }>

/** What a list of rows asks for, with the variables of the request. */
export function rowRequest(run: Run, { entity, source, selection }: RowList): ListRequest {
  const args = coerceArguments(run, source)
  return toListRequest(run.catalog, entity, args, aliasScope(run, selection), source.node)
}

// --- Rows -----------------------------------------------------------------------------------

/** The objects of rows, in their order. The rows' bytes are let go. */
export async function renderRows(
  run: Run,
  rows: readonly Row[],
  selection: RowSelection,
): Promise<JsonObject[]> {
  const { work } = run.session
  const cells = selection.fields.map((field) => cellOf(run, field, selection))
  const objects: JsonObject[] = []
  for (const row of rows) {
    objects.push(renderCells(run, row, cells))
    forget(row)
    if (work.isDue()) await work.turn()
  }
  for (const field of selection.fields) {
    if (field.type === 'one') await renderOne(run, rows, objects, field)
    if (field.type === 'many') await renderMany(run, rows, objects, field)
  }
  return objects
}

/** Fills one place of an object. */
interface Cell<T> {
  readonly key: string
  read(item: T): Json
}

function renderCells<T>(run: Run, item: T, cells: readonly Cell<T>[]): JsonObject {
  const object: JsonObject = {}
  let bytes = 3
  for (const { key, read } of cells) {
    const value = read(item)
    object[key] = value
    bytes += keyBytes(key) + jsonBytes(value)
  }
  run.session.work.addBytes(bytes)
  return object
}

/** Links keep their place with null until their level is rendered. */
function cellOf(run: Run, field: RowField, { entity }: RowSelection): Cell<Row> {
  const { key } = field
  const { section } = entity
  switch (field.type) {
    case 'constant':
      return { key, read: () => field.value }
    case 'value': {
      const { attribute, render } = field
      return { key, read: render === null ? attribute.read : (row) => render(attribute.read(row)) }
    }
    case 'aggregate':
      return { key, read: rowAggregate(run, field) }
    case 'version':
      return { key, read: (row) => (section === null ? [] : versionOf(row, section, field.fields)) }
    case 'proof':
      return { key, read: (row) => (section === null ? null : proofOf(row, section, field.fields)) }
    default:
      return { key, read: () => null }
  }
}

/** Renders single links; neighbours with the same linked row share its object. */
async function renderOne(
  run: Run,
  rows: readonly Row[],
  objects: readonly JsonObject[],
  field: Extract<RowField, { type: 'one' }>,
): Promise<void> {
  const { key, link, target, source, selection } = field
  const { work } = run.session
  const filter = coerceArguments(run, source)['filter']
  const condition = toCondition(run.catalog, target, filter, noAliases)
  const { linked, places } = linkedRows(rows, link)
  work.look(linked.length)
  const isKept = await eachOf(run, linked, toPredicate(target, condition))
  const before = work.usage().bytes
  const kept = linked.filter((_, index) => isKept[index])
  const rendered = (await renderRows(run, kept, selection)).values()
  const results = isKept.map((isIn) => (isIn ? (rendered.next().value ?? null) : null))
  const share = (work.usage().bytes - before) / Math.max(1, linked.length)
  work.addBytes(Math.ceil(share * (rows.length - linked.length)))
  for (const [index, place] of places.entries()) {
    const object = objects[index]
    if (object !== undefined) object[key] = results[place] ?? null
  }
}

/** The rows at the other end of a single link, each once among neighbours, and the place of each row's. */
function linkedRows(
  rows: readonly Row[],
  link: Link,
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
  objects: readonly JsonObject[],
  { key, link, list }: Extract<RowField, { type: 'many' }>,
): Promise<void> {
  const lists =
    list.type === 'groups'
      ? await renderEach(rows, (row) => renderGroupList(run, list, rowsOfSpan(row, link)))
      : await renderLists(run, list, await childrenOf(run, rows, link, list))
  for (const [index, object] of objects.entries()) object[key] = lists[index] ?? []
}

async function childrenOf(
  run: Run,
  rows: readonly Row[],
  link: Link,
  list: RowList,
): Promise<readonly Row[][]> {
  const select = createChildSelector(list.entity, rowRequest(run, list))
  return await eachOf(run, rows, (row) => {
    const children = select(row.block, link.span(row))
    run.session.work.addRows(children.length)
    return children
  })
}

function rowsOfSpan(row: Row, link: Link): readonly Row[] {
  const [start, end] = link.span(row)
  row.block.session.work.look(end - start)
  return Array.from({ length: end - start }, (_, index) => rowAt(row.block, start + index))
}

/** Renders the rows of many lists as one level. */
async function renderLists(
  run: Run,
  list: RowList,
  lists: readonly (readonly Row[])[],
): Promise<readonly Json[]> {
  const objects = await renderRows(run, lists.flat(), list.selection)
  let at = 0
  return lists.map((rows) => {
    const start = at
    at += rows.length
    return objects.slice(start, at)
  })
}

/** Like map, with turns for others in between. */
async function eachOf<T, R>(
  { session: { work } }: Run,
  items: readonly T[],
  toResult: (item: T) => R,
): Promise<readonly R[]> {
  const results: R[] = []
  for (const item of items) {
    results.push(toResult(item))
    if (work.isDue()) await work.turn()
  }
  return results
}

async function renderEach<T>(
  items: readonly T[],
  render: (item: T) => Promise<Json>,
): Promise<readonly Json[]> {
  const results: Json[] = []
  for (const item of items) results.push(await render(item))
  return results
}

// --- Groups ---------------------------------------------------------------------------------

/** The objects of the groups among rows that are at hand. */
async function renderGroupList(
  run: Run,
  list: GroupList,
  rows: readonly Row[],
): Promise<readonly JsonObject[]> {
  return await renderGroups(run, await groupsAmong(run, list, rows), list.selection)
}

/** The objects of groups, in their order. */
export async function renderGroups(
  run: Run,
  groups: readonly Group[],
  selection: GroupSelection,
): Promise<JsonObject[]> {
  const { work } = run.session
  work.addRows(groups.length)
  const cells = groupCells(selection)
  const objects = groups.map((group) => renderCells(run, group, cells))
  for (const field of selection.fields) {
    if (field.type !== 'members') continue
    const { key, list } = field
    const lists =
      list.type === 'groups'
        ? await renderEach(groups, (group) => renderGroupList(run, list, group.rows))
        : await renderLists(run, list, await membersOf(run, groups, list))
    for (const [index, object] of objects.entries()) object[key] = lists[index] ?? []
  }
  return objects
}

async function membersOf(
  run: Run,
  groups: readonly Group[],
  list: RowList,
): Promise<readonly Row[][]> {
  const request = rowRequest(run, list)
  return await eachOf(run, groups, ({ rows }) => {
    const members = selectAmong(list.entity, rows, request)
    run.session.work.addRows(members.length)
    return members
  })
}

function groupCells({ fields }: GroupSelection): readonly Cell<Group>[] {
  const aggregates = fields.filter(({ type }) => type === 'aggregate')
  return fields.map((field) => groupCell(field, aggregates.indexOf(field)))
}

function groupCell(field: GroupField, aggregate: number): Cell<Group> {
  const { key } = field
  switch (field.type) {
    case 'constant':
      return { key, read: () => field.value }
    case 'key':
      return { key, read: ({ values }) => keyValue(values[field.index] ?? null, field.render) }
    case 'aggregate':
      return { key, read: (group) => group.aggregates[aggregate] ?? null }
    case 'members':
      return { key, read: () => null }
  }
}

function keyValue(value: Value, render: Render | null): Value {
  return render === null ? value : render(value)
}
