/**
 * Renders the objects of one level of an answer, rows or groups: first what is nested below, for all items at once, then
 * each item with the fields of its own.
 */
import { type ByteWriter, createByteWriter } from '../../primitives/cbor.ts'
import type { QueryBudget } from '../budget/query-budget.ts'
import { mapYielding } from '../budget/yielding-loop.ts'
import { putText } from '../rows/write-value.ts'

/** What stands under one key of every object. */
export type ObjectColumn<T> =
  | { readonly key: string; write(out: ByteWriter, item: T): void }
  | { readonly key: string; texts(items: readonly T[]): Promise<readonly string[]> }

/** A column, ready to be written. */
interface Cell<T> {
  /** What precedes its value. */
  readonly before: string
  write(out: ByteWriter, item: T): void
  /** The values where they are nested, which are counted already; null where `write` writes them. */
  readonly nested: readonly string[] | null
}

/** Objects up to this size are written without asking whether they may be so large. */
const usualBytes = 64 * 1024
/** Characters of a nested value up to which it is copied; longer ones are copied once, when the answer is sent. */
const shortNested = 4 * 1024

type Release<T> = (item: T) => void

/** The JSON texts of items. `release` is called with each of them once it is read. */
export async function renderObjects<T>(
  budget: QueryBudget,
  items: readonly T[],
  columns: readonly ObjectColumn<T>[],
  release: Release<T>,
): Promise<string[]> {
  const cells = await toCells(items, columns)
  const target = { out: scratch, putNested: putNestedText }
  return await eachObject(budget, items, release, (item, index) => {
    scratch.at = 0
    taken = ''
    writeObject(budget, cells, item, index, target)
    return taken + takeText()
  })
}

/** Writes the JSON of items into `out`, one object behind the other; returns where each ends. */
export async function writeObjects<T>(
  budget: QueryBudget,
  items: readonly T[],
  columns: readonly ObjectColumn<T>[],
  release: Release<T>,
  out: ByteWriter,
): Promise<number[]> {
  const cells = await toCells(items, columns)
  const target = { out, putNested: putText }
  return await eachObject(budget, items, release, (item, index) => {
    writeObject(budget, cells, item, index, target)
    return out.at
  })
}

async function eachObject<T, R>(
  budget: QueryBudget,
  items: readonly T[],
  release: Release<T>,
  make: (item: T, index: number) => R,
): Promise<R[]> {
  return await mapYielding(budget, items, (item, index) => {
    const made = make(item, index)
    release(item)
    return made
  })
}

async function toCells<T>(
  items: readonly T[],
  columns: readonly ObjectColumn<T>[],
): Promise<readonly Cell<T>[]> {
  const cells: Cell<T>[] = []
  for (const column of columns) {
    const before = `${cells.length === 0 ? '' : ','}"${column.key}":`
    if ('write' in column) cells.push({ before, write: column.write, nested: null })
    else cells.push({ before, write: nothing, nested: await column.texts(items) })
  }
  return cells
}

const nothing = (): void => undefined

/** Where objects are written. */
interface Target {
  readonly out: ByteWriter
  readonly putNested: (out: ByteWriter, value: string) => void
}

function writeObject<T>(
  budget: QueryBudget,
  cells: readonly Cell<T>[],
  item: T,
  index: number,
  { out, putNested }: Target,
): void {
  let ownBytes = 2
  putText(out, '{')
  for (const { before, write, nested } of cells) {
    const start = out.at
    putText(out, before)
    write(out, item)
    ownBytes += out.at - start
    if (ownBytes > usualBytes) budget.checkObject(ownBytes)
    if (nested !== null) putNested(out, nested[index] ?? 'null')
  }
  putText(out, '}')
  budget.addBytes(ownBytes + 1)
}

// --- Texts ----------------------------------------------------------------------------------

/** Where one object is written at a time; it is a text of its own before the next is begun. */
const scratch = createByteWriter(usualBytes)
/** What precedes in that object. */
let taken = ''

function putNestedText(out: ByteWriter, value: string): void {
  if (value.length <= shortNested) putText(out, value)
  else taken += takeText() + value
}

function takeText(): string {
  const text = scratch.bytes.toString('utf8', 0, scratch.at)
  if (scratch.bytes.length > 4 * usualBytes) scratch.bytes = createByteWriter(usualBytes).bytes
  scratch.at = 0
  return text
}
