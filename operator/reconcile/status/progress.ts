/** How far the operator has come with a resource: the generation that was reconciled, and the request that was. */
import { requests } from '../../api/annotations.ts'
import type { Resource } from '../../api.ts'
import type { Findings } from './findings.ts'

/** What a resource begins with, as its definition has it. */
const neverObserved = -1

interface Progress {
  readonly observedGeneration: number
  readonly lastHandledReconcileAt?: string
}

/** What failed and is tried again, or waits while paused, moves neither on. */
export function progressOf<F>(
  { metadata: { generation, annotations }, status }: Resource,
  { waiting, error }: Pick<Findings<F>, 'waiting' | 'error'>,
): Progress {
  const observed = error === null ? generation : status?.observedGeneration
  const isHandled = error === null && waiting === null
  const handled = isHandled ? annotations?.[requests.reconcileAt] : status?.lastHandledReconcileAt
  return {
    observedGeneration: observed ?? neverObserved,
    ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
  }
}
