/** Rows of text in columns. */
import { toSingleLine } from './print.ts'

/**
 * A table with a line of heads; columns are as wide as their widest value, the last one is not filled up. A value is one line,
 * or a stranger's would make lines of its own.
 */
export function tableText(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heads, ...rows.map((row) => row.map(toSingleLine))]
  const widths = heads.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all
    .map((row) =>
      row
        .map((value, column) => value.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
