/** What computes the rows of Views, as the rest of the Host sees it. */
import type { HeightRanges } from '../../../primitives/height-ranges.ts'
import type { ViewStateName } from '../../../service/contract.ts'
import type { HostedView } from '../hosted-view.ts'

/** Why a View, or one block of it, failed last. */
export interface ViewFailure {
  /** One of the codes of errors. */
  readonly code: string
  /** What happened, with the facts of the case. */
  readonly message: string
  /** What to do; left out where the message says it. */
  readonly remedy?: string
  /** The height that failed; null where no block is to blame. */
  readonly block: number | null
}

/** How a View stands. */
export interface ViewState {
  readonly name: ViewStateName
  /** Rows that are stored. */
  readonly rows: number
  /** What they take in the store, compressed, with their index. */
  readonly bytes: number
  /** Heights that are done, with rows or without. */
  readonly done: HeightRanges
  /** Lowest height whose rows are kept, where those below took more than VIEW_MAX_BYTES; null where none did. */
  readonly rowsFrom: number | null
  /** Stored heights that are not done and did not fail. */
  readonly blocksLeft: number
  /** Stored blocks that failed, until they are tried again with success or go. */
  readonly blocksFailed: number
  /** Blocks in a second, lately; null while none is left to do. */
  readonly blocksPerSecond: number | null
  /** Processor time of a block in milliseconds, on average over the last ones; null before the first. */
  readonly costMs: number | null
  readonly failure: ViewFailure | null
}

/** The state of a View that has not begun. */
export const noRows: ViewState = {
  name: 'waiting',
  rows: 0,
  bytes: 0,
  done: [],
  rowsFrom: null,
  blocksLeft: 0,
  blocksFailed: 0,
  blocksPerSecond: null,
  costMs: null,
  failure: null,
}

export interface ViewEngine {
  /** Computes the rows of a View from now on. */
  serve(view: HostedView): void
  /** No longer computes them. Resolves once none is written any more. */
  remove(id: string): Promise<void>
  /** Tries blocks that failed again, and ends a quarantine. */
  retry(id: string): void
  /** Of all Views, by their long IDs. */
  states(): ReadonlyMap<string, ViewState>
  /** Of one View, without reading how the others stand; undefined where it is not served. */
  state(id: string): ViewState | undefined
  /** Calls the listener with the name of a View and a height whose rows were stored. */
  onRows(listener: (name: string, height: number) => void): void
  /** Resolves once none writes any more. */
  close(): Promise<void>
}
