/** The thread that checks Views that come; see `createViewChecker`. */
import { createViewCheck } from '../../compute/view-check.ts'
import { serveThread } from '../../service/threads/serve-thread.ts'
import type { Registration, ViewFacts } from '../../views/registration.ts'

/** What the thread is started with. */
export interface CheckData {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
}

/** What a View turned out to be. */
export interface CheckedView extends ViewFacts {
  /** The collection of another chain that it reads; null for a View of this one. */
  readonly foreign: string | null
  /** The name of its type, whatever the chain calls it. */
  readonly type: string
  /** How many fields that has. */
  readonly fields: number
}

export type CheckRequests = {
  /** Fails with what is wrong about the View. */
  readonly check: (registration: Registration) => CheckedView
}

await serveThread<CheckRequests, Record<string, never>, CheckData>(async ({ data }) => {
  const check = createViewCheck(data.network)
  return {
    requests: {
      check: (registration) => {
        const { id, address, lenses, foreign, rowType } = check(registration).view
        const { name: type, fields } = rowType
        return { id, address, lenses, foreign, type, fields: fields.length }
      },
    },
    close: async () => undefined,
  }
})
