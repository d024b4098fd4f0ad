/** What a test executed, read from what V8 wrote for it and for the programs and threads it started. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** For each source file the stretches of its text that were executed: start, end, start, end, and so on. */
export type Coverage = Readonly<Record<string, readonly number[]>>

type Stretch = readonly [start: number, end: number]

/** As V8 counts: a range within another one says how often that part of it ran. */
interface CountedRange {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

interface Report {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly CountedRange[] }[]
  }[]
}

/** Reads every report in a folder (`NODE_V8_COVERAGE`), for the sources of this root. */
export function readCoverage(folder: string, root: string): Coverage {
  const prefix = `${pathToFileURL(root).href}/`
  const found = new Map<string, Stretch[]>()
  for (const name of readdirSync(folder)) {
    for (const { url, functions } of readReport(join(folder, name)).result) {
      const path = url.startsWith(prefix) ? url.slice(prefix.length).replace(/[?#].*$/, '') : ''
      if (!/^(src|operator)\//.test(path)) continue
      const executed = executedStretches(functions.flatMap(({ ranges }) => ranges))
      found.set(path, [...(found.get(path) ?? []), ...executed])
    }
  }
  return Object.fromEntries([...found].map(([path, stretches]) => [path, joined(stretches).flat()]))
}

/** A program that was killed while it wrote leaves a report that cannot be read. */
function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return { result: [] }
  }
}

/** The stretches in which the smallest range around them was executed. */
export function executedStretches(ranges: readonly CountedRange[]): Stretch[] {
  const stretches: Stretch[] = []
  const open: CountedRange[] = []
  let at = 0
  const goTo = (position: number): void => {
    const isExecuted = (open.at(-1)?.count ?? 0) > 0
    if (isExecuted && position > at) stretches.push([at, position])
    at = position
  }
  const closeBefore = (position: number): void => {
    for (let last = open.at(-1); last && last.endOffset <= position; last = open.at(-1)) {
      goTo(last.endOffset)
      open.pop()
    }
  }
  for (const range of ranges.toSorted(outerFirst)) {
    closeBefore(range.startOffset)
    goTo(range.startOffset)
    open.push(range)
  }
  closeBefore(Number.POSITIVE_INFINITY)
  return stretches
}

function outerFirst(a: CountedRange, b: CountedRange): number {
  return a.startOffset - b.startOffset || b.endOffset - a.endOffset
}

function joined(stretches: readonly Stretch[]): Stretch[] {
  const result: Stretch[] = []
  for (const [start, end] of stretches.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1)
    if (last !== undefined && start <= last[1]) {
      result[result.length - 1] = [last[0], Math.max(last[1], end)]
    } else result.push([start, end])
  }
  return result
}

/** Whether what stands at a position was executed, in any of the processes. */
export function isExecuted(coverage: Coverage, path: string, position: number): boolean {
  const bounds = coverage[path] ?? []
  const passed = bounds.findIndex((bound) => bound > position)
  return passed % 2 === 1
}
