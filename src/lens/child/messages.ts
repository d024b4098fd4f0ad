/** What a program and its lens process say to each other, and that process and its threads. */
import type { PlainError } from '../../plain-error.ts'
import type { LensPlace, RunningLens } from '../running-lens.ts'
import type { PieceGate } from './piece-gate.ts'

/** One piece of work for a thread. */
export interface ThreadJob {
  readonly id: number
  /** Key of the View. */
  readonly view: string
  /** The View itself, where the thread said that it lacks it. */
  readonly definition: Uint8Array | null
  readonly payload: Uint8Array
  readonly processorMs: number
  readonly wallMs: number
  /** Whether its result comes in pieces. */
  readonly isPieced: boolean
}

/** The job as the thread gets it. */
export interface GatedJob extends ThreadJob {
  /** Null where its result comes whole. */
  readonly gate: PieceGate | null
  /** Where the thread shows which lens it is in. */
  readonly running: RunningLens
}

/** How a job went. */
export type JobOutcome =
  | { readonly kind: 'result'; readonly bytes: Uint8Array }
  | { readonly kind: 'failure'; readonly error: PlainError }
  /** The View is not loaded in this thread: the job comes again with its definition. */
  | { readonly kind: 'missing' }

/** Program to lens process. */
export type ToChild =
  | {
      readonly kind: 'start'
      readonly workerUrl: string
      readonly data: unknown
      /** How many there may be; each is started when all others work. */
      readonly threads: number
      /** Added to that of the program; threads inherit it, so that it comes before them. */
      readonly niceness: number
    }
  | { readonly kind: 'job'; readonly thread: number; readonly job: ThreadJob }
  /** A piece of the job's result was taken. */
  | { readonly kind: 'taken'; readonly thread: number; readonly id: number }
  /** Ends the job of a thread, and the thread with it where the job does not stop at once. */
  | { readonly kind: 'abort'; readonly thread: number; readonly id: number }

/** Lens process to program. */
export type FromChild =
  /** A thread takes jobs, for the first time or because its predecessor was ended. */
  | { readonly kind: 'ready'; readonly thread: number }
  | {
      readonly kind: 'outcome'
      readonly thread: number
      readonly id: number
      readonly outcome: JobOutcome
      readonly processorMs: number
      /** False where the thread was ended: another one says `ready`. */
      readonly isFree: boolean
    }
  /** A part of the result, before the outcome. */
  | {
      readonly kind: 'piece'
      readonly thread: number
      readonly id: number
      readonly bytes: Uint8Array
    }
  /** A thread that was ended still runs. */
  | { readonly kind: 'stuck'; readonly thread: number }
  /** A thread could not start. */
  | { readonly kind: 'refused'; readonly error: PlainError }
  | {
      readonly kind: 'memory'
      readonly bytes: number
      /** Where the one job is that is under way; nowhere where none is, or several are. */
      readonly place: LensPlace
    }

/** Thread to the lens process; processor time is that of the thread since it started. */
export type FromThread =
  /** With its name in Linux's list of threads, where there is one. */
  | { readonly kind: 'ready'; readonly processorMs: number; readonly task: string | null }
  | { readonly kind: 'refused'; readonly error: PlainError }
  | { readonly kind: 'piece'; readonly id: number; readonly bytes: Uint8Array }
  | {
      readonly kind: 'outcome'
      readonly id: number
      readonly outcome: JobOutcome
      readonly processorMs: number
    }
