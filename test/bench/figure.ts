/**
 * One line of the performance table: what was measured, how it compares with its goal, and the raw
 * values behind it.
 */
export interface Figure {
  readonly name: string
  /** The measured value, in `unit`. */
  readonly value: number
  readonly unit: 'x' | 'bytes' | 'kB' | 'MB' | 'ms' | 's' | 'requests' | 'writes'
  /** At most this much is the goal; without one the value is only shown. */
  readonly goal?: number
  readonly stretch?: number
  /** The values the figure was computed from. */
  readonly from: string
}

/** `met`, `stretch` or `MISSED`; empty without a goal. */
function verdict(figure: Figure): string {
  if (figure.goal === undefined) return ''
  if (figure.stretch !== undefined && figure.value <= figure.stretch) return 'stretch'
  return figure.value <= figure.goal ? 'met' : 'MISSED'
}

/** The figures as the markdown table of docs/development/benchmarks.md. */
export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) =>
    [
      figure.name,
      `${show(figure.value)} ${figure.unit}`,
      figure.goal === undefined ? '' : `${figure.goal} ${figure.unit}`,
      figure.stretch === undefined ? '' : `${figure.stretch} ${figure.unit}`,
      verdict(figure),
      figure.from,
    ].join(' | '),
  )
  return [
    '| Figure | Measured | Goal | Stretch | Result | From |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n')
}

/** One line: whether all goals are met. */
export function summary(figures: readonly Figure[]): string {
  const missed = figures.filter((figure) => verdict(figure) === 'MISSED')
  return missed.length === 0
    ? 'all goals met'
    : `${missed.length} of ${figures.length} goals missed`
}

/** Three significant digits. */
export function show(value: number): string {
  if (value === 0) return '0'
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
