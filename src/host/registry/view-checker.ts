/** Checks registered Views in a thread of its own, which is there only while there are any to check. */
import { openThread, type Thread, threadUrl } from '../../service/threads/thread.ts'
import type { Registration } from '../../views/registration.ts'
import type { CheckData, CheckedView, CheckRequests } from './check-thread.ts'

export interface ViewChecker {
  /** Throws what is wrong about the View, or SERVICE_THREAD_DIED. */
  check(registration: Registration): Promise<CheckedView>
  /** Ends the thread; the next check starts another one. */
  rest(): Promise<void>
}

type CheckThread = Thread<CheckRequests, Record<string, never>>

/** More than any View of accepted sizes takes. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

export function createViewChecker(data: CheckData): ViewChecker {
  let opening: Promise<CheckThread> | null = null
  const rest = async (): Promise<void> => {
    const thread = opening
    opening = null
    await (await thread?.catch(() => undefined))?.close().catch(() => undefined)
  }
  const open = (): Promise<CheckThread> =>
    openThread(
      {
        url: threadUrl('./check-thread', import.meta.url),
        name: 'view-check',
        data,
        resourceLimits,
      },
      // The check that was under way fails with it.
      { onFatal: () => void rest() },
    )
  return {
    async check({ sender, registeredAt, wire }) {
      opening ??= open()
      return await (await opening).request('check', { sender, registeredAt, wire })
    },
    rest,
  }
}
