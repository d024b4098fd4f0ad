/**
 * Lets reflectors learn what our own writes were answered, so that a reconcile right after a write never
 * acts on what was there before it.
 */
import type { WriteGuard } from '../client/requests.ts'
import { keyOf } from '../client/resource-type.ts'
import type { Reflector } from './reflector.ts'

/** The part of a `Status` that names what was deleted. */
interface Deleted {
  readonly kind?: string
  readonly details?: { readonly uid?: string }
}

/** The guard; `reflectors` is read at each write, since they are opened after the API. */
export function writeThrough(
  reflectors: () => Iterable<Pick<Reflector<unknown>, 'type' | 'put' | 'forget'>>,
): WriteGuard {
  return {
    after(call, answer) {
      const { kind, details }: Deleted = answer as Deleted
      for (const reflector of reflectors()) {
        if (reflector.type.kind !== call.type.kind) continue
        if (kind !== 'Status') reflector.put(answer)
        else if (call.verb === 'delete' && details?.uid !== undefined) {
          reflector.forget(keyOf(call.namespace, call.name ?? ''), details.uid)
        }
      }
    },
  }
}
