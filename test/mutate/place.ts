/** One change of one place in the sources: what a mutation run tries, and how it is shown. */

/** A change of a text: the characters from `start` to `end` become `text`. */
export interface Mutant {
  /** Path from the root, with slashes. */
  readonly path: string
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A syntax node with every change of it that is tried. */
export interface Place {
  readonly path: string
  readonly start: number
  readonly mutants: readonly Mutant[]
}

export function applyMutant(source: string, { start, end, text }: Mutant): string {
  return source.slice(0, start) + text + source.slice(end)
}

/** The line of a position, counted from 1. */
export function lineOf(source: string, position: number): number {
  return source.slice(0, position).split('\n').length
}

/** As in `src/store/prune.ts:12`. */
export function placeName(source: string, { path, start }: Mutant): string {
  return `${path}:${lineOf(source, start)}`
}

/** Lines of each side that are shown; a longer change ends in an ellipsis. */
const shownLines = 8

/** The lines that differ, those of before marked with `-` and those of after with `+`. */
export function diffOf(source: string, mutant: Mutant): string {
  const from = source.lastIndexOf('\n', mutant.start - 1) + 1
  const newline = source.indexOf('\n', mutant.end)
  const to = newline === -1 ? source.length : newline
  const before = source.slice(from, to)
  const after = source.slice(from, mutant.start) + mutant.text + source.slice(mutant.end, to)
  return [...marked('-', before), ...marked('+', after)].join('\n')
}

function marked(mark: string, text: string): string[] {
  const lines = text.split('\n').map((line) => `${mark} ${line}`)
  return lines.length <= shownLines ? lines : [...lines.slice(0, shownLines), `${mark} …`]
}
