/**
 * Deletes the pod that waits for a larger file system, for its StatefulSet to create it again.
 */
import type { Resource } from '../../api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ReconcileRun } from '../../runtime/controller.ts'
import { podToRestart, type RestartFacts } from '../evaluate/resize-restart.ts'
import { recordEvent } from '../statements/record-event.ts'
import type { ReconcileParts } from './reconcile-parts.ts'

/** Deletes that very pod, for its StatefulSet to recreate it. */
export async function restartToResize<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  facts: RestartFacts,
  { signal, log }: ReconcileRun,
): Promise<void> {
  const restart = podToRestart(resource, facts)
  if (restart === null) return
  const { name, uid } = restart.pod
  const { namespace } = resource.metadata
  const address = { type: builtinTypes.Pod, namespace, name }
  const isDeleted = await parts.api.delete(address, { uid, signal }).catch((error: unknown) => {
    // Another pod has its name by now.
    if (hasCode(error, 'OPERATOR_API_CONFLICT')) return false
    throw error
  })
  if (!isDeleted) return
  log.info({ pod: name, claims: restart.claims }, 'pod deleted, for a file system to grow')
  const { claims } = restart
  const note = `Pod ${name} is recreated, since the file system of ${claims.join(' and ')} grows when it starts.`
  recordEvent(parts, resource, { reason: 'PodRestarted', action: 'Delete', note })
}
