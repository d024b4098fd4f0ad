/** What a test of a View and its thread in the lens process say to each other. */

/** What each thread is started with. */
export interface TrialWorkerData {
  readonly storePath: string
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
}

/** One piece of work. */
export type TrialJob =
  /** Computes a block as a Host does, and looks at each row. */
  | { readonly kind: 'block'; readonly height: number; readonly maxRowBytes: number }
  /** Whether the rows of a block depend on which documents are in it together. */
  | { readonly kind: 'alone'; readonly height: number }
  /** Runs the lenses over so many documents at once, those of the blocks over and over. */
  | { readonly kind: 'measure'; readonly heights: readonly number[]; readonly documents: number }

/** Fields in the order of the SDL. */
export type TrialRow = Readonly<Record<string, unknown>>

/** How often a field of the SDL was what. */
export interface FieldCount {
  readonly name: string
  /** As the SDL has it, in brackets for a list. */
  readonly type: string
  readonly values: number
  /** The lens wrote null. */
  readonly nulls: number
  /** The lens wrote nothing. */
  readonly missing: number
  /** The lens wrote what is not of the type, and the row has null. */
  readonly wrongType: number
  /** The first such value as JSON, cut where it is long; null where there is none. */
  readonly wrongExample: string | null
}

/** What became of a block. */
export interface BlockResult {
  readonly documents: number
  readonly rows: readonly TrialRow[]
  /** Of `rows` as JSON; at most what the job allows. */
  readonly rowBytes: number
  /** Rows that are not among these but behind them, since they are too many. */
  readonly rowsLeftOut: number
  readonly fields: readonly FieldCount[]
  /** Fields that rows had and the SDL does not, and in how many rows. */
  readonly unknown: Readonly<Record<string, number>>
  /** How each lens is fed. */
  readonly feeds: readonly string[]
}

interface AloneResult {
  /** Null where the block has fewer than two documents. */
  readonly isSame: boolean | null
}

/** What `measure` found. */
export interface Measurement {
  readonly documents: number
  /** By the clock, for all of them. */
  readonly ms: number
  readonly memoryBytes: number
}

/** By the kind of the job. */
export interface TrialResults {
  readonly block: BlockResult
  readonly alone: AloneResult
  readonly measure: Measurement
}
