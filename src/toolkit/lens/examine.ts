/** Examines a lens: what it imports and exports, and how it copes with what Hosts and authors of Views may do to it. */
import { lensMemoryBytes } from '../../compute/lens-resources.ts'
import { ServiceError } from '../../errors.ts'
import { checkAbi } from '../../lens/abi-check.ts'
import { decodePayload, encodePayload } from '../../lens/json-payload.ts'
import { checkModule, moduleLimits } from '../../lens/module-check.ts'
import { type LensProcess, openLensProcess } from '../../lens/process/lens-process.ts'
import { threadUrl } from '../../service/threads/thread.ts'
import { lensArguments } from '../../views/view.ts'
import { silentLog } from '../blocks/silent-log.ts'
import { counted } from '../cli/counted.ts'
import { checkOf, type LensCheck } from './check.ts'
import type { DoctorJob, DoctorLens, DoctorResults } from './doctor-job.ts'

interface ExamineOptions {
  readonly wasm: Uint8Array
  /** A JSON object as text; empty for none. */
  readonly args: string
  /** Compact JSON, at least one. */
  readonly documents: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/**
 * All checks in their order. Those after imports and exports are left out where these fail, and those after one that
 * took all the time or memory that it may.
 * @throws the reason of the signal.
 */
export async function examineLens(options: ExamineOptions): Promise<LensCheck[]> {
  const imports = checkImports(options.wasm)
  if (imports.outcome === 'failed') return [imports]
  const process = openLensProcess(
    {
      workerUrl: threadUrl('./doctor-worker', import.meta.url),
      data: null,
      threads: 1,
      memoryBytes: lensMemoryBytes(1),
      environment: options.environment,
    },
    {
      log: silentLog(),
      metrics: { job: () => undefined, restarted: () => undefined, watch: () => undefined },
      onEnded: () => undefined,
    },
  )
  try {
    return [imports, ...(await examineRunning({ ...options, process, spent: { isOver: false } }))]
  } finally {
    await process.close()
  }
}

function checkImports(wasm: Uint8Array): LensCheck {
  try {
    checkModule(wasm)
    return checkOf('imports', 'passed', 'it imports lens.next and nothing else')
  } catch (error) {
    return checkOf('imports', 'failed', foreseenMessage(error))
  }
}

interface Patient extends ExamineOptions {
  readonly process: LensProcess
  /** Whether a job took all the time or memory that it may: then the others would as well. */
  readonly spent: { isOver: boolean }
}

async function examineRunning(patient: Patient): Promise<LensCheck[]> {
  const { check: exports, found } = await checkExports(patient)
  if (found === null) return [exports]
  const { takesArguments } = found
  const steps = [
    checkFeeds,
    checkNil,
    checkEndFirst,
    checkMissingArguments,
    checkWrongArguments,
    checkMemory,
    checkDeterminism,
  ]
  const checks = [exports]
  for (const step of steps) {
    if (patient.spent.isOver) break
    checks.push(await step(patient, takesArguments))
  }
  return checks
}

// --- Running ---------------------------------------------------------------------------------

/** Ten times what a block may take, for the longest of the jobs. */
const limits = { processorMs: 20_000, wallMs: 60_000 }

async function run<J extends DoctorJob>(
  { process, wasm, documents, signal, spent, ...own }: Patient,
  job: J,
  args: string = own.args,
): Promise<DoctorResults[J['kind']] | ServiceError> {
  const lens: DoctorLens = { wasm: Buffer.from(wasm).toString('base64'), args, documents }
  try {
    const { bytes } = await process.run({
      view: args,
      definition: () => encodePayload(lens),
      priority: 'live',
      payload: encodePayload(job),
      signal,
      ...(job.kind === 'memory' && limits),
    })
    return decodePayload(bytes)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (spentCodes.includes(error.code)) spent.isOver = true
    return error
  }
}

const spentCodes: readonly string[] = ['LENS_TIME_LIMIT', 'LENS_MEMORY_LIMIT', 'LENS_PROCESS_DIED']

function foreseenMessage(error: unknown): string {
  if (error instanceof ServiceError) return error.message
  throw error
}

/** Whether a lens reports a problem as the ABI has it, and does not break down. */
const isReported = ({ code }: ServiceError): boolean =>
  code === 'LENS_FAILED' || code === 'LENS_ARGUMENTS_REFUSED'

// --- Checks ----------------------------------------------------------------------------------

async function checkExports(
  patient: Patient,
): Promise<{ check: LensCheck; found: DoctorResults['open'] | null }> {
  const failed = (message: string) => ({
    check: checkOf('exports', 'failed', message),
    found: null,
  })
  try {
    checkAbi(checkModule(patient.wasm))
  } catch (error) {
    return failed(foreseenMessage(error))
  }
  const opened = await run(patient, { kind: 'open' })
  if (opened instanceof ServiceError) {
    // Where its arguments alone are refused, everything else can be examined.
    const isArguments = opened.code === 'LENS_ARGUMENTS_REFUSED'
    return failed(
      isArguments ? `${opened.message}; give what it asks for: --args JSON` : opened.message,
    )
  }
  const pages = opened.memoryBytes / (64 * 1024)
  const also = opened.takesArguments ? ', set_param' : ''
  const message = `it exports memory, alloc, transform${also}, and begins with ${counted(pages, 'page')} of memory`
  return { check: checkOf('exports', 'passed', message), found: opened }
}

async function checkFeeds(patient: Patient): Promise<LensCheck> {
  const name = 'both feeds'
  const chosen = await run(patient, { kind: 'feed', feed: null })
  if (chosen instanceof ServiceError) {
    const advice = isReported(chosen) ? '; --args and --query say what it is given' : ''
    return checkOf(name, 'failed', `${chosen.message}${advice}`)
  }
  const { feed, outputs } = chosen
  const otherName = feed === 'stream' ? 'single' : 'stream'
  const other = await run(patient, { kind: 'feed', feed: otherName })
  const fed = `a Host feeds it "${feed}", which gives ${outputs} documents`
  if (other instanceof ServiceError)
    return checkOf(name, 'warning', `${fed}; "${otherName}" fails: ${other.message}`)
  if (other.hash === chosen.hash)
    return checkOf(name, 'passed', `it gives the same ${outputs} documents by either feed`)
  const wrong = outputs === 0 && other.outputs > 0 ? 'failed' : 'warning'
  const remedy = `write "feed: ${otherName}" into the description of the type where that is right`
  return checkOf(name, wrong, `${fed}; "${otherName}" gives ${other.outputs} others: ${remedy}`)
}

async function checkNil(patient: Patient): Promise<LensCheck> {
  const result = await run(patient, { kind: 'items', items: ['nil', 'document', 'end'] })
  if (result instanceof ServiceError && !isReported(result))
    return checkOf('nil', 'warning', `given nil, ${result.message}`)
  return checkOf('nil', 'passed', 'nil in place of a document does it no harm')
}

async function checkEndFirst(patient: Patient): Promise<LensCheck> {
  const name = 'end of stream first'
  const result = await run(patient, { kind: 'items', items: ['end'] })
  if (result instanceof ServiceError)
    return checkOf(name, 'failed', `given no document, ${result.message}`)
  if (result[0] === 'document')
    return checkOf(name, 'warning', 'it makes a document out of none, in every block')
  return checkOf(name, 'passed', 'it ends where there is no document')
}

async function checkMissingArguments(
  patient: Patient,
  takesArguments: boolean,
): Promise<LensCheck> {
  const name = 'missing arguments'
  if (!takesArguments) return checkOf(name, 'passed', 'it takes none')
  const result = await run(patient, { kind: 'feed', feed: null }, '')
  if (!(result instanceof ServiceError))
    return checkOf(name, 'passed', 'it needs none of its arguments')
  if (isReported(result)) return checkOf(name, 'passed', `it says so: ${result.message}`)
  return checkOf(name, 'warning', `without arguments, ${result.message}`)
}

async function checkWrongArguments(patient: Patient, takesArguments: boolean): Promise<LensCheck> {
  const name = 'wrong arguments'
  if (!takesArguments) return checkOf(name, 'passed', 'it takes none')
  const given = Object.keys(lensArguments(patient.args) ?? {})
  const names = given.length === 0 ? ['none of its arguments'] : given
  const accepted: string[] = []
  for (const wrong of [7, [], { deep: [{}] }, '\u0000'.repeat(10_000)]) {
    const args = JSON.stringify(Object.fromEntries(names.map((each) => [each, wrong])))
    const result = await run(patient, { kind: 'open' }, args)
    const isText = typeof wrong === 'string'
    if (!(result instanceof ServiceError)) accepted.push(...(isText ? [] : [JSON.stringify(wrong)]))
    else if (!isReported(result))
      return checkOf(name, 'warning', `with ${args.slice(0, 60)}, ${result.message}`)
  }
  if (given.length > 0 && accepted.length > 0)
    return checkOf(name, 'warning', `it accepts ${accepted.join(' and ')} for ${given.join(', ')}`)
  return checkOf(name, 'passed', 'it copes with them')
}

const fewDocuments = 1_000
const manyDocuments = 10_000
/** No block has as many. */
const enoughDocuments = 100_000

async function checkMemory(patient: Patient): Promise<LensCheck> {
  const few = await run(patient, { kind: 'memory', documents: fewDocuments })
  const many = await run(patient, { kind: 'memory', documents: manyDocuments })
  if (few instanceof ServiceError)
    return checkOf('memory', 'failed', `with ${fewDocuments} documents, ${few.message}`)
  if (many instanceof ServiceError)
    return checkOf('memory', 'failed', `with ${manyDocuments} documents, ${many.message}`)
  const grown = many.memoryBytes - few.memoryBytes
  const message = `${manyDocuments} documents take ${many.memoryBytes} bytes of memory and ${Math.round(many.ms)} ms`
  const each = Math.ceil(grown / (manyDocuments - fewDocuments))
  const most = Math.floor((moduleLimits.memoryPages * 64 * 1024) / Math.max(1, each))
  if (most >= enoughDocuments) return checkOf('memory', 'passed', message)
  const limit = `it keeps ${each} bytes of each, so that a block of ${most} documents fails`
  return checkOf('memory', 'warning', `${message}; ${limit}`)
}

const rounds = 3

async function checkDeterminism(patient: Patient): Promise<LensCheck> {
  const results: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const result = await run(patient, { kind: 'feed', feed: null })
    results.push(result instanceof ServiceError ? result.message : result.hash)
  }
  return determinismOf(results)
}

/** The check of what new instances made of the same documents: the hashes of it, or what they failed with. */
export function determinismOf(results: readonly string[]): LensCheck {
  return new Set(results).size === 1
    ? checkOf('determinism', 'passed', 'three new instances give the same')
    : checkOf('determinism', 'failed', 'new instances give other documents of the same ones')
}
