/** Tries one change: runs the tests that could notice it, nearest first, until one fails. */
import type { CleanRuns } from './clean-runs.ts'
import { isExecuted } from './coverage.ts'
import type { Mutant } from './place.ts'
import type { ReachingTest } from './reach.ts'
import { runTest, type TestRun } from './run-test.ts'
import type { Scratch } from './scratch.ts'

export interface Trial {
  readonly mutant: Mutant
  /** The test that noticed the change, and how; null where none did. */
  readonly killedBy: { readonly test: string; readonly how: 'failed' | 'timed out' } | null
  /** Every test that ran with the change. */
  readonly ran: readonly string[]
}

interface TrialParts {
  readonly scratch: Scratch
  readonly cleanRuns: CleanRuns
  /** The tests that reach a file. */
  readonly reach: (path: string) => readonly ReachingTest[]
  /** Whether a test starts programs, which may end without reporting what they executed. */
  readonly startsPrograms: (test: string) => boolean
  readonly signal: AbortSignal
}

interface TrialOptions {
  /** The farthest ring whose tests are run: 3 for all. */
  readonly ring: number
  /** How many tests that execute the place are run at most. */
  readonly maxTests: number
  readonly patience: Patience
}

/** How many times its usual time a test with a change gets, and how much more for a busy machine. */
interface Patience {
  readonly factor: number
  readonly extraMs: number
}

/** A test that has never run counts as this long when tests are ordered. */
const unknownMs = 5_000

export async function tryMutant(
  mutant: Mutant,
  options: TrialOptions,
  parts: TrialParts,
): Promise<Trial> {
  const reaching = parts.reach(mutant.path).filter(({ ring }) => ring <= options.ring)
  const ran: string[] = []
  const silent: ReachingTest[] = []
  for (const test of inOrder(reaching, parts.cleanRuns)) {
    if (ran.length === options.maxTests) break
    const clean = await parts.cleanRuns.of(test.path, parts.scratch)
    if (!clean.passed) continue
    if (!isExecuted(clean.coverage, mutant.path, mutant.start)) {
      silent.push(test)
      continue
    }
    ran.push(test.path)
    const how = await failure(mutant, test, options, parts)
    if (how !== null) return { mutant, killedBy: { test: test.path, how }, ran }
  }
  if (ran.length > 0) return { mutant, killedBy: null, ran }
  for (const test of silent.filter(({ path }) => parts.startsPrograms(path))) {
    ran.push(test.path)
    const how = await failure(mutant, test, options, parts)
    if (how !== null) return { mutant, killedBy: { test: test.path, how }, ran }
  }
  return { mutant, killedBy: null, ran }
}

/** Ring by ring; within one, few steps and a short run come first. */
export function inOrder(
  tests: readonly ReachingTest[],
  cleanRuns: Pick<CleanRuns, 'known'>,
): ReachingTest[] {
  const effort = new Map(
    tests.map((test) => {
      const durationMs = cleanRuns.known(test.path)?.durationMs ?? unknownMs
      return [test, durationMs * test.steps]
    }),
  )
  const effortOf = (test: ReachingTest): number => effort.get(test) ?? 0
  return tests.toSorted((a, b) => a.ring - b.ring || effortOf(a) - effortOf(b))
}

/**
 * How a test fails with the change. A busy machine kills nothing: a test of another folder has to fail twice, and one
 * that takes too long has to end in half of that time without the change.
 */
async function failure(
  mutant: Mutant,
  { path: test, ring }: ReachingTest,
  { patience }: TrialOptions,
  { scratch, cleanRuns, signal }: TrialParts,
): Promise<'failed' | 'timed out' | null> {
  const usualMs = cleanRuns.known(test)?.durationMs ?? unknownMs
  const limitMs = usualMs * patience.factor + patience.extraMs
  const run = async (): Promise<TestRun['outcome']> =>
    (await runTest(scratch, test, { limitMs, signal })).outcome
  const outcome = await scratch.during(mutant, async () => {
    const first = await run()
    return first === 'failed' && ring > 1 ? await run() : first
  })
  if (outcome === 'passed') return null
  if (outcome === 'failed') return outcome
  const unchanged = await runTest(scratch, test, { limitMs: limitMs / 2, signal })
  return unchanged.outcome === 'passed' ? outcome : null
}
