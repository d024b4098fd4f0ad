/**
 * Whether the memory of a program stays flat: of each of its lives that lasted long enough, what it holds after the
 * warm-up is compared with what it holds at the end. Looked at are the pages of its own (RssAnon): pages of the store's
 * file come and go as the kernel likes.
 */
import { median } from '../bench/statistics.ts'

export interface MemorySample {
  readonly name: string
  readonly life: number
  readonly atMs: number
  readonly ownBytes: number
}

/** A life that lasted long enough to be checked. */
export interface MemoryVerdict {
  readonly name: string
  readonly life: number
  readonly forMs: number
  /** After the warm-up, and at the end. */
  readonly warmBytes: number
  readonly endBytes: number
  readonly isFlat: boolean
}

/** In this time caches fill and code is compiled. */
export const warmUpMs = 60_000
/** Both are the median of what was seen within such a time: the collector's saw teeth are not what is looked for. */
const windowMs = 20_000
/** What the end may be above the warm-up, however long lies between. */
export const allowedGrowthBytes: number = 64 * 1024 * 1024

/** A verdict on each life of each program. */
export function checkMemory(samples: readonly MemorySample[]): MemoryVerdict[] {
  const lives = Map.groupBy(samples, ({ name, life }) => `${name} ${life}`)
  return [...lives.values()].flatMap((life) => checkLife(life) ?? [])
}

function checkLife(samples: readonly MemorySample[]): MemoryVerdict | null {
  const [first] = samples
  const last = samples.at(-1)
  if (first === undefined || last === undefined) return null
  const forMs = last.atMs - first.atMs
  if (forMs < warmUpMs + 2 * windowMs) return null
  const between = (fromMs: number): number =>
    median(
      samples
        .filter(({ atMs }) => atMs >= fromMs && atMs <= fromMs + windowMs)
        .map(({ ownBytes }) => ownBytes),
    )
  const warmBytes = between(first.atMs + warmUpMs)
  const endBytes = between(last.atMs - windowMs)
  const isFlat = endBytes - warmBytes <= allowedGrowthBytes
  const { name, life } = first
  return { name, life, forMs, warmBytes, endBytes, isFlat }
}
