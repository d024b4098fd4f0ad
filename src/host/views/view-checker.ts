/**
 * Checks Views that come in a thread of its own, which is there only while there are any to check: hashing and reading
 * modules of 10 MiB takes a second, of anybody's choice.
 */
import { ServiceError } from '../../errors.ts'
import { openThread, type Thread, threadUrl } from '../../service/threads/thread.ts'
import type { Registration } from '../../views/registration.ts'
import type { CheckData, CheckedView, CheckRequests } from './check-thread.ts'

export interface ViewChecker {
  /** Throws what is wrong about the View, SERVICE_THREAD_DIED, or HOST_VIEW_CHECK_TIMEOUT after ten seconds. */
  check(registration: Registration): Promise<CheckedView>
  /** Ends the thread; the next check starts another one. */
  rest(): Promise<void>
}

type CheckThread = Thread<CheckRequests, Record<string, never>>

/** More than any View of accepted sizes takes. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

/** Many times what the largest View takes. */
const maxMs = 10_000
const closeTimeoutMs = 2_000

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
        closeTimeoutMs,
      },
      // The check that was under way fails with it.
      { onFatal: () => void rest() },
    )
  return {
    async check({ sender, registeredAt, wire }) {
      opening ??= open()
      const thread = await opening
      const signal = AbortSignal.timeout(maxMs)
      try {
        return await thread.request('check', { sender, registeredAt, wire }, { signal })
      } catch (error) {
        if (!signal.aborted) throw error
        void rest()
        throw new ServiceError(
          'HOST_VIEW_CHECK_TIMEOUT',
          `the View could not be checked within ${maxMs / 1_000} seconds`,
          {
            cause: error,
            remedy:
              'Post it again when the Host has less to do; a registered View is checked again after an hour. Smaller modules take less time.',
          },
        )
      }
    },
    rest,
  }
}
