/** Deletes a pod that has to be started again, for its StatefulSet to create it. */
import type { Workload } from '../../api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ReconcileRun } from '../../runtime/controller.ts'
import { keylessPod } from '../evaluate/keyless-pod.ts'
import type { ObservedState } from '../evaluate/observed-state.ts'
import { podToRestart, type RestartFacts } from '../evaluate/resize-restart.ts'
import type { Keyring } from '../fetch/keyring.ts'
import type { KeptPod } from '../observe/pod.ts'
import { recordEvent } from '../statements/record-event.ts'
import type { ReconcileParts } from './reconcile-parts.ts'

/** Restarts the pod that waits for a larger file system. */
export async function restartToResize<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  facts: RestartFacts,
  run: ReconcileRun,
): Promise<void> {
  const restart = podToRestart(resource, facts)
  if (restart === null) return
  const claims = restart.claims.join(' and ')
  const why = `since the file system of ${claims} grows when it starts`
  await restartPod(parts, resource, { pod: restart.pod, why }, run)
}

/** Restarts a pod that began without its key. Returns how that was forbidden; null where it was not. */
export async function restartKeyless<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  { state, keyring }: { readonly state: ObservedState; readonly keyring: Keyring },
  run: ReconcileRun,
): Promise<unknown> {
  const pod = keylessPod(resource, state, keyring)
  if (pod === null) return null
  const why = 'since it was created before its key was in the keyring Secret'
  try {
    await restartPod(parts, resource, { pod, why }, run)
    return null
  } catch (error) {
    if (!hasCode(error, 'OPERATOR_API_FORBIDDEN')) throw error
    return error
  }
}

/** Deletes that very pod. */
async function restartPod<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  { pod: { name, uid }, why }: { readonly pod: KeptPod; readonly why: string },
  { signal, log }: ReconcileRun,
): Promise<void> {
  const { namespace } = resource.metadata
  const address = { type: builtinTypes.Pod, namespace, name }
  const isDeleted = await parts.api.delete(address, { uid, signal }).catch((error: unknown) => {
    // Another pod has its name by now.
    if (hasCode(error, 'OPERATOR_API_CONFLICT')) return false
    throw error
  })
  if (!isDeleted) return
  log.info({ pod: name, why }, 'pod deleted, for its StatefulSet to create it again')
  const note = `Pod ${name} is recreated, ${why}.`
  recordEvent(parts, resource, { reason: 'PodRestarted', action: 'Delete', note })
}
