/**
 * Renders the objects of one level of an answer, rows or groups: first the fields of each item itself,
 * then what is nested below, for all items at once.
 */
import { type ByteWriter, createByteWriter } from '../../primitives/cbor.ts'
import type { QueryBudget } from '../budget/query-budget.ts'
import { putText } from '../rows/write-value.ts'

/** What stands under one key of every object. */
export type ObjectColumn<T> =
  | { readonly key: string; write(out: ByteWriter, item: T): void }
  | { readonly key: string; texts(items: readonly T[]): Promise<readonly string[]> }

/** A piece of every object: columns that are read from the item, up to a column of texts. */
interface Stretch<T> {
  readonly cells: readonly { readonly before: string; write(out: ByteWriter, item: T): void }[]
  /** What follows the cells: the key of the next column, or the end of the object. */
  readonly after: string
}

/** Objects up to this size are written without asking whether they may be so large. */
const usualBytes = 64 * 1024

/** Where one object is written at a time; it is a text of its own before the next is begun. */
const out = createByteWriter(usualBytes)

/** The JSON texts of items. `release` is called with each of them once it is read. */
export async function renderObjects<T>(
  budget: QueryBudget,
  items: readonly T[],
  columns: readonly ObjectColumn<T>[],
  release: (item: T) => void,
): Promise<string[]> {
  const [first, ...others] = toStretches(columns).map((stretch) => ({
    stretch,
    texts: [] as string[],
  }))
  if (first === undefined) return []
  for (const item of items) {
    let length = renderStretch(budget, first, item)
    for (const other of others) length += renderStretch(budget, other, item)
    release(item)
    budget.addBytes(length + 1)
    if (budget.shouldYield()) await budget.yieldThread()
  }
  const objects = first.texts
  let level = 0
  for (const column of columns) {
    if ('write' in column) continue
    await append(budget, objects, await column.texts(items))
    await append(budget, objects, others[level++]?.texts ?? [])
  }
  return objects
}

async function append(
  budget: QueryBudget,
  objects: string[],
  texts: readonly string[],
): Promise<void> {
  for (const [index, text] of texts.entries()) {
    objects[index] += text
    if (budget.shouldYield()) await budget.yieldThread()
  }
}

/** Adds the piece of one object; returns its length. */
function renderStretch<T>(
  budget: QueryBudget,
  { stretch, texts }: { readonly stretch: Stretch<T>; readonly texts: string[] },
  item: T,
): number {
  out.at = 0
  for (const { before, write } of stretch.cells) {
    putText(out, before)
    write(out, item)
    if (out.at > usualBytes) budget.checkObject(out.at)
  }
  putText(out, stretch.after)
  const length = out.at
  texts.push(out.bytes.toString('utf8', 0, length))
  if (out.bytes.length > 4 * usualBytes) out.bytes = createByteWriter(usualBytes).bytes
  return length
}

function toStretches<T>(columns: readonly ObjectColumn<T>[]): readonly Stretch<T>[] {
  const stretches: Stretch<T>[] = []
  let cells: Stretch<T>['cells'][number][] = []
  let separator = '{'
  for (const column of columns) {
    const before = `${separator}"${column.key}":`
    separator = ','
    if ('write' in column) {
      cells.push({ before, write: column.write })
    } else {
      stretches.push({ cells, after: before })
      cells = []
    }
  }
  return [...stretches, { cells, after: columns.length === 0 ? '{}' : '}' }]
}
