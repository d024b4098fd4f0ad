/**
 * Tests a View: computes blocks as a Host does, by the same code in a lens process of its own, and reports what the rows
 * are like. Nothing of a lens runs in this process.
 */
import { lensMemoryBytes } from '../../compute/lens-resources.ts'
import { createViewCheck } from '../../compute/view-check.ts'
import { ServiceError } from '../../errors.ts'
import { decodePayload, encodePayload } from '../../lens/json-payload.ts'
import { checkModule } from '../../lens/module-check.ts'
import { type LensProcess, openLensProcess } from '../../lens/process/lens-process.ts'
import { threadUrl } from '../../service/threads/thread.ts'
import { noSender } from '../../views/view-id.ts'
import { selectedNames, type ViewQuery } from '../../views/view-query.ts'
import { silentLog } from '../blocks/silent-log.ts'
import { openTrialStore, type TrialBlocks } from '../blocks/trial-store.ts'
import { compareWithExpected } from './expected-rows.ts'
import { addCounts } from './field-counts.ts'
import { mergeFindings, toFinding, type ViewFinding } from './finding.ts'
import { queryFindings, refineFinding } from './query-findings.ts'
import {
  aggregationFinding,
  lowMemoryFindings,
  memoryFindings,
  type RowFacts,
  rowFindings,
} from './row-findings.ts'
import type {
  BlockResult,
  FieldCount,
  Measurement,
  TrialJob,
  TrialResults,
  TrialRow,
  TrialWorkerData,
} from './trial-job.ts'
import { otherChain } from './trial-network.ts'

interface TrialOptions extends TrialBlocks {
  /** Name of the View, for the report. */
  readonly view: string
  readonly wire: Uint8Array
  /** Rows that have to come out; null where any will do. */
  readonly expected: readonly TrialRow[] | null
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Called after each block. */
  readonly onProgress?: (done: number) => void
}

/** How a test of a View went. */
export interface TrialReport {
  readonly view: string
  readonly network: string
  /** Whether nothing is an error. */
  readonly passed: boolean
  readonly blocks: number
  readonly documents: number
  /** All of them; `rows` may hold fewer. */
  readonly rowCount: number
  /** How each lens is fed: `stream` or `single`. */
  readonly feeds: readonly string[]
  readonly fields: readonly FieldCount[]
  readonly unknownFields: Readonly<Record<string, number>>
  /** For a thousand documents; null where there were none or it failed. */
  readonly measured: Measurement | null
  readonly findings: readonly ViewFinding[]
  readonly rows: readonly TrialRow[]
}

/** After so many blocks at a limit of time or memory no further ones are tried. */
const maxLimits = 3
const measuredDocuments = 1_000
/** What measuring may take: ten times as much as a block. */
const measureLimits = { processorMs: 20_000, wallMs: 60_000 }
/** Rows of all blocks that are shown and compared, as JSON: the first of them. */
const maxRowBytes = 64 * 1024 * 1024
/** Blocks of which it is found out whether lenses add up. */
const maxComparedBlocks = 3

/**
 * Runs the test.
 * @throws ServiceError `TOOLKIT_FIXTURE_INVALID` for blocks that cannot be stored; the reason of the signal. What is
 *   wrong with the View is a finding.
 */
export async function runTrial(options: TrialOptions): Promise<TrialReport> {
  const checked = checkTrial(options)
  if ('severity' in checked) return reportOf(options, nothing, [checked])
  const store = await openTrialStore(options)
  const data: TrialWorkerData = { storePath: store.path, network: options.network }
  const process = openLensProcess(
    {
      workerUrl: threadUrl('./trial-worker', import.meta.url),
      data,
      threads: 1,
      memoryBytes: lensMemoryBytes(1),
      environment: options.environment,
    },
    { log: silentLog(), metrics: uncounted, onEnded: () => undefined },
  )
  try {
    return await computeReport({ options, process, heights: store.heights, ...checked })
  } finally {
    await process.close()
    await store.close()
  }
}

const uncounted = {
  job: () => undefined,
  restarted: () => undefined,
  watch: () => undefined,
} as const

/** What a test has to know of its View. */
interface TrialView {
  readonly query: ViewQuery
  readonly lenses: readonly Uint8Array[]
}

/** The View; what a Host refuses it for, where it does. */
function checkTrial({ wire, network }: TrialOptions): TrialView | ViewFinding {
  try {
    const registration = { sender: noSender, registeredAt: null, wire }
    const { view, source } = createViewCheck(network)(registration)
    if (view.query === null) throw otherChain(view.foreign ?? '', network)
    return { query: view.query, lenses: source.lenses.map(({ wasm }) => checkModule(wasm)) }
  } catch (error) {
    if (error instanceof ServiceError) return toFinding(error)
    throw error
  }
}

interface Trial extends TrialView {
  readonly options: TrialOptions
  readonly process: LensProcess
  readonly heights: readonly number[]
}

interface Computed {
  readonly results: readonly BlockResult[]
  readonly measured: Measurement | null
}

const nothing: Computed = { results: [], measured: null }

async function computeReport(trial: Trial): Promise<TrialReport> {
  const { options, heights, query, lenses } = trial
  const { done, findings: failures } = await computeBlocks(trial)
  const findings = failures.map((failure) => refineFinding(failure, query))
  const results = done.map(({ result }) => result)
  const busiest = done
    .toSorted((one, other) => other.result.documents - one.result.documents)
    .slice(0, maxComparedBlocks)
    .map(({ height }) => height)
  if (findings.length === 0) findings.push(...(await compareAlone(trial, busiest)))
  const isMeasured = findings.every(({ severity }) => severity !== 'error')
  const hasDocuments = results.some(({ documents }) => documents > 0)
  const { measured, problems } =
    isMeasured && hasDocuments ? await measure(trial, heights) : { measured: null, problems: [] }
  const all = [...lowMemoryFindings(lenses), ...findings, ...problems]
  return reportOf(options, { results, measured }, all, trial)
}

interface DoneBlock {
  readonly height: number
  readonly result: BlockResult
}

async function computeBlocks(
  trial: Trial,
): Promise<{ done: readonly DoneBlock[]; findings: ViewFinding[] }> {
  const findings: ViewFinding[] = []
  const done: DoneBlock[] = []
  let limits = 0
  let rowBytesLeft = maxRowBytes
  for (const height of trial.heights) {
    const result = await attempt(
      run(trial, { kind: 'block', height, maxRowBytes: rowBytesLeft }),
      height,
    )
    if ('severity' in result) {
      findings.push(result)
      if (isLimit(result)) limits += 1
      // A View that does not load fails the same way at every block.
      if (limits === maxLimits || result.kind === 'compile failure') break
    } else {
      // Where rows are left out, none behind them are kept: those that are have their places.
      rowBytesLeft = result.rowsLeftOut > 0 ? 0 : rowBytesLeft - result.rowBytes
      done.push({ height, result })
    }
    trial.options.onProgress?.(done.length + findings.length)
  }
  return { done, findings }
}

/** `LENS_MEMORY_LIMIT` goes under another code. */
const limitCodes = ['LENS_TIME_LIMIT', 'LENS_PROCESS_DIED', 'WASM_INSUFFICIENT_MEMORY']
const isLimit = ({ code }: ViewFinding): boolean => limitCodes.includes(code)

async function compareAlone(trial: Trial, heights: readonly number[]): Promise<ViewFinding[]> {
  for (const height of heights) {
    // What takes too long one by one says nothing.
    const result = await attempt(run(trial, { kind: 'alone', height }), null)
    if ('isSame' in result && result.isSame === false) return [aggregationFinding()]
  }
  return []
}

async function measure(
  trial: Trial,
  heights: readonly number[],
): Promise<{ measured: Measurement | null; problems: readonly ViewFinding[] }> {
  const job = { kind: 'measure', heights, documents: measuredDocuments } as const
  const result = await attempt(run(trial, job, measureLimits), null)
  if (!('severity' in result))
    return { measured: result, problems: memoryFindings(result, trial.lenses.length) }
  const message = `with ${measuredDocuments} documents: ${result.message}`
  return {
    measured: null,
    problems: [{ ...result, severity: 'warning', kind: 'performance', message }],
  }
}

async function run<J extends TrialJob>(
  { process, options }: Trial,
  job: J,
  limits: { readonly processorMs?: number; readonly wallMs?: number } = {},
): Promise<TrialResults[J['kind']]> {
  const { wire, signal } = options
  const { bytes } = await process.run({
    view: 'trial',
    definition: () => wire,
    priority: 'live',
    payload: encodePayload(job),
    signal,
    ...limits,
  })
  return decodePayload(bytes)
}

/** The result, or what is wrong with the View. */
async function attempt<T>(running: Promise<T>, height: number | null): Promise<T | ViewFinding> {
  try {
    return await running
  } catch (error) {
    if (error instanceof ServiceError) return toFinding(error, height)
    throw error
  }
}

function reportOf(
  { view, network, blocks, expected }: TrialOptions,
  { results, measured }: Computed,
  problems: readonly ViewFinding[],
  { query, lenses }: Partial<TrialView> = {},
): TrialReport {
  const rows = results.flatMap((result) => result.rows)
  const leftOut = results.reduce((sum, { rowsLeftOut }) => sum + rowsLeftOut, 0)
  const facts: RowFacts = {
    documents: results.reduce((sum, { documents }) => sum + documents, 0),
    rows: rows.length + leftOut,
    fields: results.reduce<readonly FieldCount[]>((sum, { fields }) => addCounts(sum, fields), []),
    unknown: addUnknown(results),
    given: query === undefined || (lenses?.length ?? 0) === 0 ? [] : selectedNames(query),
  }
  const hasFailed = problems.some(({ severity }) => severity === 'error')
  const findings = mergeFindings([
    ...problems,
    ...(hasFailed ? [] : rowFindings(facts)),
    ...(hasFailed || query === undefined
      ? []
      : queryFindings({ ...facts, query, lenses: lenses?.length ?? 0 })),
    ...(expected === null || hasFailed ? [] : compareWithExpected(expected, rows, facts.rows)),
  ])
  return {
    view,
    network,
    passed: findings.every(({ severity }) => severity !== 'error'),
    blocks: blocks.length,
    documents: facts.documents,
    rowCount: facts.rows,
    feeds: results[0]?.feeds ?? [],
    fields: facts.fields,
    unknownFields: facts.unknown,
    measured,
    findings,
    rows,
  }
}

function addUnknown(results: readonly BlockResult[]): Record<string, number> {
  const sums = new Map<string, number>()
  for (const { unknown } of results)
    for (const [name, count] of Object.entries(unknown))
      sums.set(name, (sums.get(name) ?? 0) + count)
  return Object.fromEntries(sums)
}
