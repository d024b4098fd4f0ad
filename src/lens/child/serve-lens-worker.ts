/** The thread's end of the lens process: loads Views and runs jobs, one after the other. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { invariant } from '../../errors.ts'
import { toPlainError } from '../../plain-error.ts'
import { showRunningLens } from '../running-lens.ts'
import type { FromThread, GatedJob, JobOutcome } from './messages.ts'
import { createPieceSink, type PieceSink } from './piece-gate.ts'
import { ownProcessorMs, ownTask } from './thread-time.ts'

/** What a thread does with Views. Both may throw: that is the outcome of the job. */
interface LensWorker<L> {
  /** Makes a View ready to run; what it returns is kept for later jobs of the View. */
  load(definition: Uint8Array): L
  /**
   * Does the job, and sees to it that at most `maxResultBytes` come back: more is no failure of the View. Before that
   * it hands over pieces, where the job was asked for with `onPiece`.
   */
  run(loaded: L, payload: Uint8Array, pieces: PieceSink): Uint8Array | Promise<Uint8Array>
}

const maxResultBytes = 32 * 1024 * 1024

/** Definitions whose Views a thread keeps loaded; those not used for longest go first. */
const maxLoadedBytes = 64 * 1024 * 1024

/** By the key of the View. */
type Loaded<L> = LRUCache<string, { readonly value: L }>

/**
 * Call it once, at the top of the module that `openLensProcess` is given; `open` gets its `data`. What `open`
 * throws ends the process, which is started again after a pause.
 */
export async function serveLensWorker<D, L>(
  open: (data: D) => LensWorker<L> | Promise<LensWorker<L>>,
): Promise<void> {
  const port = parentPort
  invariant(port !== null, 'serveLensWorker runs in a worker thread')
  const post = (message: FromThread): void => port.postMessage(message)
  try {
    const worker = await open(workerData as D)
    serveJobs(port, worker)
    post({ kind: 'ready', processorMs: ownProcessorMs(), task: ownTask() })
  } catch (error) {
    post({ kind: 'refused', error: toPlainError(error) })
  }
}

function serveJobs<L>(port: MessagePort, worker: LensWorker<L>): void {
  const loaded: Loaded<L> = new LRUCache({ maxSize: maxLoadedBytes })
  port.on('message', (job: GatedJob) => {
    showRunningLens(job.running)
    const pieces = createPieceSink(job.gate, (bytes) => {
      const message: FromThread = { kind: 'piece', id: job.id, bytes }
      port.postMessage(message, [bytes.buffer])
    })
    void runJob(worker, loaded, job, pieces).then((outcome) => {
      const message: FromThread = {
        kind: 'outcome',
        id: job.id,
        outcome,
        processorMs: ownProcessorMs(),
      }
      port.postMessage(message, outcome.kind === 'result' ? [outcome.bytes.buffer] : [])
    })
  })
}

type MovableOutcome =
  | Exclude<JobOutcome, { kind: 'result' }>
  | { readonly kind: 'result'; readonly bytes: Uint8Array<ArrayBuffer> }

async function runJob<L>(
  worker: LensWorker<L>,
  loaded: Loaded<L>,
  { view, definition, payload }: GatedJob,
  pieces: PieceSink,
): Promise<MovableOutcome> {
  try {
    const kept = definition === null ? loaded.get(view) : { value: worker.load(definition) }
    if (kept === undefined) return { kind: 'missing' }
    if (definition !== null) loaded.set(view, kept, { size: definition.length })
    const bytes = await worker.run(kept.value, payload, pieces)
    invariant(
      bytes.length <= maxResultBytes,
      `a job returns ${bytes.length} bytes, and ${maxResultBytes} are accepted`,
    )
    return { kind: 'result', bytes: movable(bytes) }
  } catch (error) {
    return { kind: 'failure', error: toPlainError(error) }
  }
}

/** Bytes with a buffer of their own, which is moved to the other thread. */
function movable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes)
}
