/** Whether a person asks for a reconcile. */
import { requests } from '../../api/annotations.ts'
import type { Resource } from '../../api.ts'

/** Whether the annotation has another value than the one that was handled. */
export function isAskRequested({ metadata: { annotations }, status }: Resource): boolean {
  const requested = annotations?.[requests.reconcileAt]
  return requested !== undefined && requested !== status?.lastHandledReconcileAt
}
