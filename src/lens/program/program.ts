/**
 * The lenses of a View, ready to run. This executes a stranger's code: only in a worker thread of the lens
 * process, never in a program's own process.
 */
import { ServiceError } from '../../errors.ts'
import type { Feed } from '../../views/rows/row-type.ts'
import { lensArguments } from '../../views/view.ts'
import { enterLens } from '../running-lens.ts'
import { checkModules } from '../view-modules.ts'
import { probeFeed } from './feed-probe.ts'
import {
  type CompiledLens,
  type MemoryMeter,
  openInstance,
  type SourceDocument,
} from './instance.ts'
import { lensError } from './lens-error.ts'
import { type RunLimits, runLimits } from './run-limits.ts'
import { createStage, type DocumentSource } from './stage.ts'

/** One step of a View. */
interface LensSource {
  readonly wasm: Uint8Array
  /** A JSON object as text; empty for none. */
  readonly args: string
}

/**
 * Receives a document that the last lens returned: JSON as UTF-8, not parsed and not checked by anybody yet, which
 * holds during the call only; and the index of the last document that the first lens was given, null where
 * it was given none.
 */
type Emit = (document: Uint8Array, source: number | null) => void

/** What a run took. */
interface RunFigures {
  /** Memory of all lenses together when it was over; memory never shrinks. */
  readonly memoryBytes: number
}

export interface Program {
  /** How each lens is fed. */
  readonly feeds: readonly Feed[]
  /**
   * Gives documents of compact JSON to the first lens and what the last returns to `emit`, all on instances made for this
   * run. Documents are pulled as lenses ask for them; what pulling or `emit` throws comes out as it is.
   * Nothing that was emitted counts where it throws. Other `limits` than those of the runtime version are for runs
   * whose rows nobody keeps.
   * @throws ServiceError `LENS_TRAPPED`, `LENS_FAILED`, `LENS_OUTPUT_INVALID`, `LENS_OUTPUT_LIMIT`,
   *   `LENS_ARGUMENTS_REFUSED`: the same for the same documents, so trying again is no use.
   */
  run(documents: Iterable<SourceDocument>, emit: Emit, limits?: RunLimits): RunFigures
}

/**
 * Checks and compiles the modules, and finds out how each wants to be fed where `feed` is null.
 * @throws ServiceError `LENS_MODULE_REFUSED` and those of a run.
 */
export function prepareProgram(lenses: readonly LensSource[], feed: Feed | null): Program {
  const compiled = compileLenses(lenses)
  const feeds = compiled.map((lens) => feed ?? probeFeed(lens, createMeter(runLimits)))
  return {
    feeds,
    run(documents, emit, limits = runLimits) {
      const meter = createMeter(limits)
      try {
        run({ lenses: compiled, feeds, meter, limits }, documents, emit)
        return { memoryBytes: meter.bytes() }
      } finally {
        if (meter.bytes() > collectedBytes) globalThis.gc?.()
      }
    },
  }
}

/**
 * A run that took more memory than this has it collected when it is over, which takes some milliseconds: V8 would keep
 * that of several runs, up to a gigabyte.
 */
const collectedBytes = 64 * 1024 * 1024

/** Checks and compiles the modules of a View. @throws ServiceError as `prepareProgram` does. */
export function compileLenses(lenses: readonly LensSource[]): CompiledLens[] {
  return checkModules(lenses).map(({ wasm, args }, index) => {
    const place = index + 1
    return { place, module: compileModule(place, wasm), args: checkArguments(place, args) }
  })
}

function compileModule(place: number, wasm: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  try {
    return new WebAssembly.Module(wasm)
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error
    throw lensError(
      'LENS_MODULE_REFUSED',
      place,
      `is not valid WebAssembly: ${error.message}`,
      'Build the lens again, with a compiler that makes WebAssembly 2.0.',
    )
  }
}

/** The text as it is, or nothing where the object is empty: lenses are not asked to take that. */
function checkArguments(place: number, args: string): string {
  const value = lensArguments(args)
  if (value !== undefined) return Object.keys(value ?? {}).length === 0 ? '' : args
  throw lensError(
    'LENS_ARGUMENTS_REFUSED',
    place,
    'has arguments that are not a JSON object',
    'Write them as {"name": value}, or leave them empty.',
  )
}

interface Run {
  readonly lenses: readonly CompiledLens[]
  readonly feeds: readonly Feed[]
  readonly meter: MemoryMeter
  readonly limits: RunLimits
}

function run(
  { lenses, feeds, meter, limits }: Run,
  documents: Iterable<SourceDocument>,
  emit: Emit,
): void {
  const iterator = documents[Symbol.iterator]()
  let source: number | null = null
  const first: DocumentSource = () => {
    const step = nextDocument(iterator)
    if (step.done === true) return null
    source = source === null ? 0 : source + 1
    return step.value
  }
  const last = lenses.reduce<DocumentSource>(
    (upstream, lens, index) =>
      createStage(
        { place: lens.place, feed: feeds[index] ?? 'stream', limits },
        openInstance(lens, meter),
        upstream,
      ),
    first,
  )
  try {
    for (let document = last(); document !== null; document = last())
      emit(typeof document === 'string' ? Buffer.from(document) : document, source)
  } finally {
    iterator.return?.()
  }
}

/** The next document; finding it is the work of no lens. */
function nextDocument(documents: Iterator<SourceDocument>): IteratorResult<SourceDocument> {
  const before = enterLens(0)
  try {
    return documents.next()
  } finally {
    enterLens(before)
  }
}

/** Adds up what the memories of all instances grow to. */
function createMeter({ memoryBytes }: RunLimits): MemoryMeter & { bytes(): number } {
  let total = 0
  return {
    bytes: () => total,
    grew(place, bytes) {
      total += bytes
      if (total <= memoryBytes) return
      throw new ServiceError(
        'LENS_OUTPUT_LIMIT',
        `the lenses grow to more than ${memoryBytes} bytes of memory together, at lens ${place}`,
        {
          facts: { lens: place, memoryBytes: total },
          remedy: 'Let the lenses keep less, or use fewer of them.',
        },
      )
    },
  }
}
