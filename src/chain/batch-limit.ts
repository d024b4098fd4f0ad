/**
 * How many calls one batch request to a node may hold. Nodes and providers differ, and refuse in many
 * ways: a plain refusal lowers the limit for good; failures that may have other causes only make the
 * batches smaller until they succeed again.
 */

export interface BatchLimit {
  /** Calls the next batch may hold; 1 = no batches. */
  size(): number
  /** The node refused a batch of `sent` calls. */
  refused(sent: number): void
  /** A batch of `sent` calls failed for an unknown reason. */
  failed(sent: number): void
  /** A batch of `sent` calls succeeded. */
  passed(sent: number): void
}

/** Consecutive failures of batches after which smaller ones are tried. */
const failuresBeforeShrinking = 3
/** Consecutive successes after which batches grow again, up to the largest size never refused. */
const passesBeforeGrowing = 50

const half = (size: number): number => Math.max(1, Math.floor(size / 2))

/** Starts at `max` calls. */
export function createBatchLimit(max: number): BatchLimit {
  let ceiling = max
  let size = max
  let failures = 0
  let passes = 0
  return {
    size: () => size,
    refused(sent) {
      ceiling = Math.min(ceiling, half(sent))
      size = Math.min(size, ceiling)
      passes = 0
    },
    failed(sent) {
      passes = 0
      failures = sent === 1 ? failures : failures + 1
      if (failures < failuresBeforeShrinking) return
      failures = 0
      size = Math.min(size, half(sent))
    },
    passed(sent) {
      failures = sent === 1 ? failures : 0
      passes += 1
      if (passes < passesBeforeGrowing) return
      passes = 0
      size = Math.min(ceiling, size * 2)
    },
  }
}
