/** What the process of the lenses may take of the machine. */
import { runLimits } from '../lens/program/run-limits.ts'

const mebibyte = 1024 * 1024
/** More threads than that take memory that few Hosts have to spare; `LENS_THREADS` asks for them. */
const maxDefaultThreads = 4
/** Both half as much again as is taken before any lens runs: the process is emptied at three quarters of its limit. */
const processBytes = 192 * mebibyte
const threadBytes = 64 * mebibyte

/** How many threads run lenses: as set, or one fewer than there are cores, at least one and at most four. */
export function lensThreadsOf(setting: number | null, cores: number): number {
  return setting ?? Math.min(maxDefaultThreads, Math.max(1, cores - 1))
}

/** Memory of the process at which it is ended: that of its threads, and the lenses of one View at their largest. */
export function lensMemoryBytes(threads: number): number {
  return processBytes + threads * threadBytes + runLimits.memoryBytes
}
