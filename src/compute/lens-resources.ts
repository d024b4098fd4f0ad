/** What the process of the lenses may take of the machine. */
import { runLimits } from '../lens/program/run-limits.ts'

const mebibyte = 1024 * 1024
/** Unless `LENS_THREADS` asks for more, threads get no more than this part of the memory. */
const threadsShare = 1 / 8
/** Both half as much again as is taken before any lens runs: the process is emptied at three quarters of its limit. */
const processBytes = 192 * mebibyte
const threadBytes = 64 * mebibyte

/** What there is of a machine, or of the container in which the program runs. */
interface Machine {
  readonly cores: number
  readonly memoryBytes: number
}

/** How many threads run lenses: as set, or one fewer than there are cores where an eighth of the memory has room for them. */
export function lensThreadsOf(setting: number | null, { cores, memoryBytes }: Machine): number {
  const fitting = Math.floor((memoryBytes * threadsShare) / threadBytes)
  return setting ?? Math.max(1, Math.min(cores - 1, fitting))
}

/** Memory of the process at which it is ended: that of its threads, and the lenses of one View at their largest. */
export function lensMemoryBytes(threads: number): number {
  return processBytes + threads * threadBytes + runLimits.memoryBytes
}
