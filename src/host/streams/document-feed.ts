/**
 * The documents of a View for lenses, which ask for the next one while they run and cannot wait as programs do: they
 * are read in another thread, and this one sleeps until they come.
 */
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { showBlock } from '../../lens/running-lens.ts'
import { fromPlainError } from '../../plain-error.ts'
import { threadUrl } from '../../service/threads/thread.ts'
import type { StreamBlock } from '../../views/rows/streamed-rows.ts'
import type {
  DocumentReaderData,
  DocumentRequest,
  FromDocumentReader,
  StreamDocuments,
  ToDocumentReader,
} from './document-batches.ts'
import type { StreamWorkerData } from './stream-job.ts'

/** One run over documents. */
export interface DocumentRun extends Iterable<string> {
  /** The one that was handed out last, and its block; null before the first and after the last. */
  readonly last: { readonly text: string; readonly block: StreamBlock | null } | null
}

export interface DocumentFeed {
  /**
   * Documents in the order of the query; one run at a time. `onIdle` is called before each, and now and then while it
   * waits; what it throws comes out, and so does why there are no more: `VIEWS_SELECTION_TOO_LARGE`.
   */
  run(request: DocumentRequest, onIdle: () => void): DocumentRun
}

/** How long it sleeps before it asks whether it still is to. */
const sleepMs = 25
/** Documents are small, and few are held. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

/** Starts the reading thread, which ends with this one. */
export function openDocumentFeed(data: StreamWorkerData): DocumentFeed {
  const { port1, port2 } = new MessageChannel()
  const bell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const workerData: DocumentReaderData = { ...data, port: port2, bell }
  const worker = new Worker(threadUrl('./document-reader', import.meta.url), {
    name: 'documents of a stream',
    workerData,
    transferList: [port2],
    env: {},
    resourceLimits,
  })
  // A thread without its reader is of no use: its end is reported, and another one takes its place.
  worker.on('error', (error) => {
    throw error
  })
  let lastId = 0
  return {
    run(request, onIdle) {
      lastId += 1
      return createRun({ id: lastId, bell, onIdle, request, port: port1 })
    },
  }
}

interface RunParts {
  readonly id: number
  readonly bell: Int32Array<SharedArrayBuffer>
  readonly port: MessageChannel['port1']
  readonly request: DocumentRequest
  readonly onIdle: () => void
}

function createRun(parts: RunParts): DocumentRun {
  const { id, port, request, onIdle } = parts
  const post = (message: ToDocumentReader): void => port.postMessage(message)
  let last: DocumentRun['last'] = null
  function* documents(): Generator<string> {
    post({ kind: 'begin', id, request })
    try {
      for (let blocks = receive(parts); blocks !== null; blocks = receive(parts)) {
        post({ kind: 'taken', id })
        for (const { block, texts } of blocks) {
          showBlock(block?.height ?? null)
          for (const text of texts) {
            onIdle()
            last = { text, block }
            yield text
          }
        }
      }
      last = null
      showBlock(null)
    } finally {
      post({ kind: 'end', id })
    }
  }
  return {
    get last() {
      return last
    },
    [Symbol.iterator]: documents,
  }
}

/** The next batch; null at the end. */
function receive({ id, bell, port, onIdle }: RunParts): readonly StreamDocuments[] | null {
  for (;;) {
    const rung = Atomics.load(bell, 0)
    const message: FromDocumentReader | undefined = receiveMessageOnPort(port)?.message
    if (message === undefined) {
      onIdle()
      Atomics.wait(bell, 0, rung, sleepMs)
    } else if (message.id !== id) continue
    else if (message.kind === 'failure') throw fromPlainError(message.error)
    else return message.kind === 'done' ? null : message.blocks
  }
}
