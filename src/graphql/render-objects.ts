/**
 * Renders the objects of one level of an answer, rows or groups: what an item says of itself first,
 * for all of them, then what hangs below, for all of them at once.
 */
import type { Work } from './work.ts'

/** What stands under one key of every object. */
export type Column<T> =
  | { readonly key: string; text(item: T): string }
  | { readonly key: string; texts(items: readonly T[]): Promise<readonly string[]> }

/** A piece of every object: columns that are read from the item, up to a column of texts. */
interface Stretch<T> {
  readonly cells: readonly { readonly before: string; text(item: T): string }[]
  /** What follows the cells: the key of the next column, or the end of the object. */
  readonly after: string
}

/** The JSON texts of items. `release` is called with each of them once it is read. */
export async function renderObjects<T>(
  work: Work,
  items: readonly T[],
  columns: readonly Column<T>[],
  release: (item: T) => void,
): Promise<string[]> {
  const stretches = toStretches(columns)
  const [first, ...others] = stretches
  const objects: string[] = []
  const rest: (readonly string[])[] = []
  for (const item of items) {
    const text = stretchText(item, first)
    const further = others.map((stretch) => stretchText(item, stretch))
    objects.push(text)
    rest.push(further)
    release(item)
    work.addBytes(further.reduce((sum, one) => sum + one.length, text.length + 1))
    if (work.isDue()) await work.turn()
  }
  let level = 0
  for (const column of columns) {
    if (!('texts' in column)) continue
    const texts = await column.texts(items)
    for (const [index, further] of rest.entries()) {
      objects[index] += (texts[index] ?? 'null') + (further[level] ?? '')
      if (work.isDue()) await work.turn()
    }
    level++
  }
  return objects
}

function toStretches<T>(columns: readonly Column<T>[]): readonly [Stretch<T>, ...Stretch<T>[]] {
  const stretches: Stretch<T>[] = []
  let cells: { before: string; text(item: T): string }[] = []
  let separator = '{'
  for (const column of columns) {
    const before = `${separator}"${column.key}":`
    separator = ','
    if ('text' in column) {
      cells.push({ before, text: column.text })
    } else {
      stretches.push({ cells, after: before })
      cells = []
    }
  }
  const last = { cells, after: columns.length === 0 ? '{}' : '}' }
  const [first = last, ...others] = [...stretches, last]
  return [first, ...others]
}

function stretchText<T>(item: T, { cells, after }: Stretch<T>): string {
  let text = ''
  for (const cell of cells) text += cell.before + cell.text(item)
  return text + after
}
