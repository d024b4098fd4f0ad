/**
 * Sets of positions within one block as ascending spans, the end excluded; `whole` stands for all
 * of a section without counting it.
 */

/** First and end position. */
export type Span = readonly [start: number, end: number]

/** Ascending spans that do not overlap, or all positions. */
export type SpanSet = readonly Span[] | 'whole'

/** What is in both. */
export function intersectSpans(a: SpanSet, b: SpanSet): SpanSet {
  if (a === 'whole') return b
  if (b === 'whole') return a
  const result: Span[] = []
  let [i, j] = [0, 0]
  for (;;) {
    const [left, right] = [a[i], b[j]]
    if (left === undefined || right === undefined) return result
    const start = Math.max(left[0], right[0])
    const end = Math.min(left[1], right[1])
    if (start < end) result.push([start, end])
    if (left[1] < right[1]) i++
    else j++
  }
}

/** What is in either. */
export function uniteSpans(a: SpanSet, b: SpanSet): SpanSet {
  if (a === 'whole' || b === 'whole') return 'whole'
  return mergeSpans([...a, ...b])
}

/** Spans in any order, empty ones too, made a set. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const [first] = spans
  if (first !== undefined && spans.length === 1 && first[0] < first[1]) return spans
  const sorted = spans.filter(([start, end]) => start < end).sort((a, b) => a[0] - b[0])
  const result: [number, number][] = []
  for (const [start, end] of sorted) {
    const last = result.at(-1)
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end)
    else result.push([start, end])
  }
  return result
}
