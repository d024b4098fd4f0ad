/**
 * How a lens wants its documents. Modules do not say, so one is asked: an instance that is thrown away is
 * given the end of the stream, and asked once more. A lens to which that end was final does not call `lens.next`
 * again and wants all documents before it; any other begins again after each end.
 */
import type { Feed } from '../../views/rows/row-type.ts'
import { type CompiledLens, type LensInstance, type MemoryMeter, openInstance } from './instance.ts'

/**
 * Whatever the lens returns, traps included, is left for a run with documents to say.
 * @throws ServiceError As `openInstance` does.
 */
export function probeFeed(lens: CompiledLens, meter: MemoryMeter): Feed {
  const instance = openInstance(lens, meter)
  const first = askWithNothing(instance)
  if (first === null) return 'stream'
  const second = askWithNothing(instance)
  return second === false ? 'stream' : 'single'
}

/** Whether it calls `lens.next` with nothing there; null where it fails. */
function askWithNothing(instance: LensInstance): boolean | null {
  let calls = false
  try {
    instance.transform(() => {
      calls = true
      return instance.writeEnd()
    })
  } catch {
    return null
  }
  return calls
}
