/**
 * `npm run mutate -- --places N`: changes N random places of `src` and `operator`, one at a time in a copy of the
 * checkout, and runs the tests that reach each until one notices. What none notices is shown. Ends with code 1
 * where fewer than `--at-least` in a hundred are noticed, or where a test fails without any change.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createSeededRandom } from '../support/seeded-random.ts'
import { readSourceFiles, root } from '../support/source-files.ts'
import { chooseMutants } from './choose-mutants.ts'
import { openCleanRuns } from './clean-runs.ts'
import { createCompiler } from './compiler.ts'
import { findPlaces } from './find-places.ts'
import { diffOf, lineOf, type Mutant, placeName } from './place.ts'
import { createReach, readModuleGraph, stepsFrom } from './reach.ts'
import { openScratch, type Scratch } from './scratch.ts'
import { testFiles } from './test-files.ts'
import { type Trial, tryMutant } from './try-mutant.ts'

const { values } = parseArgs({
  options: {
    places: { type: 'string', default: '100' },
    seed: { type: 'string', default: `${Date.now()}` },
    /** A folder or a file, and a line of it: all changes there instead of random ones. */
    under: { type: 'string', default: '' },
    line: { type: 'string' },
    /** The farthest tests that are run: 0 is the file's own, 1 those of its folder, 2 of its room, 3 all. */
    ring: { type: 'string', default: '3' },
    /** So many of the nearest tests that execute a place are run at most. */
    tests: { type: 'string', default: 'Infinity' },
    jobs: { type: 'string', default: '1' },
    'at-least': { type: 'string', default: '95' },
    cache: { type: 'string', default: join(root, 'node_modules/.cache/mutate') },
  },
})

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(name, () => stop.abort(new Error(`stopped by ${name}`)))

const files = readSourceFiles('src', 'operator', 'test', 'images')
const texts = new Map(files.map(({ path, text }) => [path, text]))
const sources = files.filter(({ path }) => /^(src|operator)\//.test(path))
const graph = readModuleGraph(root, files)
const tests = testFiles([...texts.keys()])

const read = (path: string): string => texts.get(path) ?? readFileSync(join(root, path), 'utf8')

function textOf({ path }: Pick<Mutant, 'path'>): string {
  return texts.get(path) ?? ''
}

function chosen(): Iterator<Mutant> {
  const places = sources
    .filter(({ path }) => path.startsWith(values.under))
    .flatMap(({ path, text }) => findPlaces(path, text))
  const compiles = createCompiler(root, new Map(sources.map(({ path, text }) => [path, text])))
  if (values.line === undefined) {
    say(`seed ${values.seed}; ${places.length} places`)
    return chooseMutants(places, Number(values.places), createSeededRandom(values.seed), compiles)
  }
  const line = Number(values.line)
  const here = places.filter((place) => lineOf(textOf(place), place.start) === line)
  return here
    .flatMap(({ mutants }) => mutants)
    .filter(compiles)
    .values()
}

function report({ mutant, killedBy, ran }: Trial, durationMs: number): void {
  const name = placeName(textOf(mutant), mutant)
  const seconds = `${(durationMs / 1_000).toFixed(1)} s`
  if (killedBy !== null) {
    say(`killed    ${name} by ${killedBy.test} (${killedBy.how}; ${seconds})`)
    return
  }
  const what = ran.length === 0 ? 'no test executes it' : `passed: ${ran.join(', ')}`
  say(`SURVIVED  ${name} (${seconds})\n${diffOf(textOf(mutant), mutant)}\n  ${what}`)
}

/** Modules that start programs: of tests, and of ours, as the lens process, which is killed at its end. */
const starters = new Set(
  files
    .filter(({ imports }) => imports.some(({ target }) => target === 'node:child_process'))
    .map(({ path }) => path),
)
const startsPrograms = (test: string): boolean =>
  [...stepsFrom(graph, test).keys()].some((path) => starters.has(path))

const patience = { factor: 5, extraMs: 20_000 }

const mutants = chosen()
const { signal } = stop
const cleanRuns = openCleanRuns({ read, graph, cache: values.cache, signal })
const reach = createReach(graph, tests)
const trials: Trial[] = []

async function work(scratch: Scratch): Promise<void> {
  for (let next = mutants.next(); !next.done; next = mutants.next()) {
    const begin = performance.now()
    const options = { ring: Number(values.ring), maxTests: Number(values.tests), patience }
    const parts = { scratch, cleanRuns, reach, startsPrograms, signal }
    const trial = await tryMutant(next.value, options, parts)
    trials.push(trial)
    report(trial, performance.now() - begin)
  }
}

const scratches = Array.from({ length: Number(values.jobs) }, () => openScratch(root))
await Promise.all(
  scratches.map((scratch) => work(scratch).catch((error: unknown) => stop.abort(error))),
)
for (const scratch of scratches) scratch.close()
const isStopped = signal.aborted
if (isStopped) say(String(signal.reason))
for (const [test, output] of cleanRuns.failed()) say(`FAILS WITHOUT ANY CHANGE  ${test}\n${output}`)
const killed = trials.filter(({ killedBy }) => killedBy !== null).length
const byTime = trials.filter(({ killedBy }) => killedBy?.how === 'timed out').length
say(`killed ${killed} of ${trials.length}, ${byTime} of them by time`)
const isEnough = killed * 100 >= trials.length * Number(values['at-least'])
const isWhole = !isStopped && cleanRuns.failed().size === 0
process.exitCode = isEnough && isWhole ? 0 : 1
