/** Start here: a thread that is given documents as the thread of the lenses is, and says what it got. */
import { parentPort, workerData } from 'node:worker_threads'
import type { DocumentRequest } from '../../../../src/host/streams/document-batches.ts'
import { type DocumentRun, openDocumentFeed } from '../../../../src/host/streams/document-feed.ts'
import {
  createRunningLens,
  readRunningLens,
  showRunningLens,
} from '../../../../src/lens/running-lens.ts'

export interface FeedOrder {
  readonly request: DocumentRequest
  /** At which document the run is stopped; null for none. */
  readonly stopAt: number | null
}

/** Where a run is. */
interface FeedPlace {
  readonly last: DocumentRun['last']
  /** The block that is shown to who watches the thread. */
  readonly shown: number | null
}

export interface FeedReport {
  /** Each document, and where the run was with it. */
  readonly documents: readonly ({ readonly text: string } & FeedPlace)[]
  readonly end: FeedPlace
  /** Message of what came out of the run; null where it came to its end. */
  readonly error: string | null
}

const running = createRunningLens()
showRunningLens(running)
const feed = openDocumentFeed(workerData)

parentPort?.on('message', (order: FeedOrder) => parentPort?.postMessage(runOver(order)))

function runOver({ request, stopAt }: FeedOrder): FeedReport {
  const documents: { text: string; last: DocumentRun['last']; shown: number | null }[] = []
  const run = feed.run(request, () => {
    if (documents.length === stopAt) throw new Error('stopped')
  })
  const place = (): FeedPlace => ({ last: run.last, shown: readRunningLens(running).block })
  try {
    for (const text of run) documents.push({ text, ...place() })
    return { documents, end: place(), error: null }
  } catch (error) {
    return { documents, end: place(), error: String(error) }
  }
}
