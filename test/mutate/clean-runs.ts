/**
 * How each test does without any change: whether it passes, how long it takes and what it executes. A test runs
 * when this is first asked of it, and again only after something that it reaches has changed.
 */
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Coverage, readCoverage } from './coverage.ts'
import { type ModuleGraph, stepsFrom } from './reach.ts'
import { runTest } from './run-test.ts'
import type { Scratch } from './scratch.ts'

interface CleanRun {
  readonly passed: boolean
  readonly durationMs: number
  readonly coverage: Coverage
}

export interface CleanRuns {
  of(test: string, scratch: Scratch): Promise<CleanRun>
  /** What is known of a test without running it. */
  known(test: string): CleanRun | null
  /** The tests that did not pass, with what they wrote. */
  failed(): ReadonlyMap<string, string>
}

interface CleanRunsOptions {
  /** A file of the checkout as it was when the run began, by its path from the root. */
  readonly read: (path: string) => string
  readonly graph: ModuleGraph
  /** Where results are kept from one mutation run to the next. */
  readonly cache: string
  readonly signal: AbortSignal
}

/** Longest time of an unchanged test. */
const limitMs = 300_000

export function openCleanRuns(options: CleanRunsOptions): CleanRuns {
  const { cache, signal } = options
  mkdirSync(cache, { recursive: true })
  const runs = new Map<string, Promise<CleanRun>>()
  const known = new Map<string, CleanRun | null>()
  const failed = new Map<string, string>()
  const recall = (test: string): CleanRun | null => {
    const found = known.get(test) ?? readRun(cachePath(options, test))
    known.set(test, found)
    return found
  }
  const run = async (test: string, scratch: Scratch): Promise<CleanRun> => {
    const coverageFolder = join(scratch.folder, '..', 'coverage')
    mkdirSync(coverageFolder)
    // Programs that a test starts as another user write there as well.
    chmodSync(coverageFolder, 0o1777)
    try {
      const result = await runTest(scratch, test, { limitMs, signal, coverage: coverageFolder })
      const passed = result.outcome === 'passed'
      const clean: CleanRun = {
        passed,
        durationMs: Math.round(result.durationMs),
        coverage: readCoverage(coverageFolder, scratch.folder),
      }
      known.set(test, clean)
      if (!passed) failed.set(test, result.output)
      else writeFileSync(cachePath(options, test), JSON.stringify(clean))
      return clean
    } finally {
      rmSync(coverageFolder, { recursive: true, force: true })
    }
  }
  return {
    known: recall,
    failed: () => failed,
    of(test, scratch) {
      const recalled = recall(test)
      if (recalled !== null) return Promise.resolve(recalled)
      const running = runs.get(test) ?? run(test, scratch)
      runs.set(test, running)
      return running
    },
  }
}

/** Named after the contents of everything that the test reaches. */
function cachePath({ read, graph, cache }: CleanRunsOptions, test: string): string {
  const hash = createHash('sha256')
  for (const path of ['package-lock.json', ...[...stepsFrom(graph, test).keys()].toSorted()])
    hash.update(`${path}\n`).update(read(path))
  return join(cache, `${hash.digest('hex').slice(0, 32)}.json`)
}

function readRun(path: string): CleanRun | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as CleanRun
  } catch {
    return null
  }
}
