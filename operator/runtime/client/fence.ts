/**
 * Holds back writes of a process that may not be the leader any more. It is open for a time after each renewal
 * of the Lease and shuts by itself: a process that was stopped and goes on finds it shut, before it has
 * found out anything. Once lost it never opens again.
 */
import { ServiceError } from '../../../src/errors.ts'
import { describeCall } from './api-error.ts'
import type { WriteGuard } from './requests.ts'

export interface Fence {
  /** Throws OPERATOR_FENCED for a write that must not be sent. */
  readonly guard: WriteGuard
  isOpen(): boolean
  /** Writes may go out until then, by `performance.now()`. */
  openUntil(atMs: number): void
  /** For good. */
  shut(): void
}

/** Shut until it is opened. `nowMs` is a clock that goes on while the process is stopped. */
export function createFence(nowMs: () => number = () => performance.now()): Fence {
  let untilMs = Number.NEGATIVE_INFINITY
  let isShut = false
  const isOpen = (): boolean => !isShut && nowMs() < untilMs
  return {
    isOpen,
    guard: {
      before(call) {
        if (isOpen()) return
        throw new ServiceError('OPERATOR_FENCED', `${describeCall(call)} was held back`, {
          facts: { kind: call.type.kind, verb: call.verb },
          remedy: 'Nothing: the operator that is the leader now writes.',
        })
      },
    },
    openUntil(atMs) {
      untilMs = atMs
    },
    shut() {
      isShut = true
    },
  }
}
