/**
 * What the lenses of a View may take in one run. All of it is found at the same place of the same run on every
 * machine, so that a failure here is one on every Host: another value is another version of the runtime.
 */

/** Named with rows and failures; lenses run again where it changes. */
export const runtimeVersion = 1

export interface RunLimits {
  /** Bytes of one document or error that a lens returns. */
  readonly itemBytes: number
  /** What one lens returns, nil included, beside one for each document it was given. */
  readonly items: number
  /** Bytes of all documents that one lens returns. */
  readonly outputBytes: number
  /** Bytes of memory of all lenses together; each has at most 64 MiB. */
  readonly memoryBytes: number
}

/** Those of runtime version 1. */
export const runLimits: RunLimits = {
  itemBytes: 16 * 1024 * 1024,
  items: 100_000,
  outputBytes: 64 * 1024 * 1024,
  memoryBytes: 256 * 1024 * 1024,
}
