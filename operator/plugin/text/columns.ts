/** Rows of cells as lines of aligned columns. */
import { printable } from './printable.ts'

const gap = '   '

/** Lines without spaces at their ends; a row may have fewer cells than another. */
export function inColumns(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(printable))
  const widths: number[] = []
  for (const row of cells) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length)
    })
  }
  return cells.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join(gap)
      .trimEnd(),
  )
}
