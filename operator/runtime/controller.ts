/**
 * A controller: a queue of keys without duplicates and workers that bring what each key names to where
 * it should be. A key is worked on by one worker at a time; what fails is tried again, later each time.
 */
import type { Logger } from 'pino'

/** `user`: somebody changed what is wanted. `owned`: something we made changed. `resync`: it is time. */
export type Urgency = 'user' | 'owned' | 'resync'

/** What a reconcile is given beside its key. */
export interface ReconcileRun {
  /** Aborted when the controller stops for good. */
  readonly signal: AbortSignal
  /** Says controller, namespace, name and reconcileID in every line. */
  readonly log: Logger
}

export interface ReconcileResult {
  /** Looks again after this time even if nothing changes. */
  readonly requeueAfterMs?: number | undefined
}

/**
 * Brings one key to where it should be. Throwing means: again after a pause that doubles from 5 ms to 1,000 s,
 * or as long as the API server asked for. What only a person can mend is not thrown but told in status.
 */
export type Reconcile = (key: string, run: ReconcileRun) => Promise<ReconcileResult>

export interface ControllerOptions {
  /** Label of its metrics and field of its log lines: `host`. */
  readonly name: string
  /** Keys worked on at once. Default 4. */
  readonly workers?: number
  /** Every key is looked at again after about this time. Default 600,000. */
  readonly resyncMs?: number
  /** First and longest pause after failures. Default 5 and 1,000,000. */
  readonly minRetryMs?: number
  readonly maxRetryMs?: number
  /** Time for running reconciles to end when closing. Default 20,000. */
  readonly stopTimeoutMs?: number
}

export interface Controller {
  /** Adds a key; one that waits already keeps the higher urgency. */
  add(key: string, urgency: Urgency): void
  /** Adds a key after a time; an earlier date for the same key stands. */
  addAfter(key: string, delayMs: number): void
  /** Starts the workers; keys added before wait. */
  start(): void
  /** Takes no more keys, waits for what is running and aborts what is left. */
  close(): Promise<void>
}
