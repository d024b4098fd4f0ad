/** The messages between the two ends of a thread, and the types of a protocol. */
import type { PlainError } from '../../plain-error.ts'

/** A protocol's requests: name -> function from payload to result. Declare it as a `type`. */
export type ThreadRequests<R> = { readonly [K in keyof R]: (payload: never) => unknown }

export type Payload<F> = F extends (payload: infer P) => unknown ? P : never
export type RequestResult<F> = F extends (payload: never) => infer A ? Awaited<A> : never

/** Main thread to worker. */
export type ToWorker =
  | {
      readonly kind: 'request'
      readonly id: number
      readonly name: string
      readonly payload: unknown
    }
  | { readonly kind: 'metrics'; readonly id: number }
  | { readonly kind: 'abort'; readonly id: number }
  | { readonly kind: 'close' }

/** Worker to main thread. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly error: PlainError }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: PlainError }
  | { readonly kind: 'event'; readonly name: string; readonly payload: unknown }
  | { readonly kind: 'crashed'; readonly error: PlainError }
  | { readonly kind: 'closed'; readonly error: PlainError | null }
