/** What `lens doctor` and its thread in the lens process say to each other. */

/** A lens with documents for it; the definition of each job's View. */
export interface DoctorLens {
  /** The module, base64. */
  readonly wasm: string
  /** A JSON object as text; empty for none. */
  readonly args: string
  /** Compact JSON. */
  readonly documents: readonly string[]
}

/** What `lens.next` gives. */
export type GivenItem = 'nil' | 'end' | 'document'

export type DoctorJob =
  /** Compiles it and makes one instance. */
  | { readonly kind: 'open' }
  /** Runs it over all documents, fed so; null for as a Host would. */
  | { readonly kind: 'feed'; readonly feed: 'stream' | 'single' | null }
  /** Calls `transform` for each of these items. */
  | { readonly kind: 'items'; readonly items: readonly GivenItem[] }
  /** Runs it over so many documents, the given ones over and over. */
  | { readonly kind: 'memory'; readonly documents: number }

/** By the kind of the job. */
export interface DoctorResults {
  readonly open: {
    readonly takesArguments: boolean
    /** Memory of a new instance. */
    readonly memoryBytes: number
  }
  readonly feed: {
    /** How it was fed. */
    readonly feed: string
    /** SHA-256 of what came out, in its order. */
    readonly hash: string
    readonly outputs: number
  }
  /** What each call returned. */
  readonly items: readonly ('nil' | 'end' | 'document')[]
  readonly memory: { readonly memoryBytes: number; readonly ms: number }
}
