/**
 * Why the StatefulSet of a resource cannot make a pod or a claim, such as a quota: only its Events say. They are read
 * while pods are missing, and not watched.
 */
import type { EventsV1Event } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import { podName, wantedOrdinals, wantedReplicas } from '../../resources/names/names.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { timeOf } from '../../runtime/client/micro-time.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { KeptPod } from '../observe/pod.ts'
import { isObserved, type SetCounts } from '../observe/set-counts.ts'

/** What is known of the StatefulSet and its pods. */
interface SetState {
  /** The StatefulSet's; null while there is none. */
  readonly counts: SetCounts | null
  readonly set: { readonly metadata?: { readonly uid?: string } } | null
  readonly pods: ReadonlyMap<number, KeptPod>
  /** The time of day, in milliseconds since 1970. */
  readonly observedMs: number
}

/** What is read of an Event: what happened to which pod, and when it did so last. */
interface FailedCreate {
  readonly note: string
  readonly atMs: number
}

/** Its controller tries again within this time, as it is nudged twice a minute, and writes an Event of five at least. */
const maxAgeMs = 600_000
const maxNoteLength = 512

/** What the newest Event says of a pod that is missing; null where none does, or Events may not be read. */
export async function findFailedCreate(
  api: Pick<KubernetesApi, 'list'>,
  resource: Workload,
  { counts, set, pods, observedMs }: SetState,
  signal: AbortSignal,
): Promise<string | null> {
  const uid = set?.metadata?.uid
  if (uid === undefined || counts === null || !isObserved(counts)) return null
  if (counts.replicas >= wantedReplicas(resource)) return null
  const missing = wantedOrdinals(resource)
    .filter((ordinal) => !pods.has(ordinal))
    .map((ordinal) => podName(resource, ordinal))
  const found = await failedCreates(api, resource.metadata.namespace, uid, signal)
  const current = found
    .filter(({ atMs }) => observedMs - atMs <= maxAgeMs)
    .filter(({ note }) => missing.some((name) => note.includes(`Pod ${name} in StatefulSet`)))
    .toSorted((a, b) => b.atMs - a.atMs)
  return current[0]?.note ?? null
}

/** What Events say of pods that the object of this UID could not make; nothing where they may not be read. */
export async function failedCreates(
  api: Pick<KubernetesApi, 'list'>,
  namespace: string,
  uid: string,
  signal: AbortSignal,
): Promise<readonly FailedCreate[]> {
  const type = builtinTypes.Event
  const fieldSelector = `regarding.uid=${uid},reason=FailedCreate`
  try {
    const keep = (event: KubernetesObject): FailedCreate => keepEvent(event as EventsV1Event)
    return (await api.list({ type, namespace, fieldSelector }, { keep, signal })).items
  } catch (error) {
    if (hasCode(error, 'OPERATOR_API_FORBIDDEN')) return []
    throw error
  }
}

function keepEvent({
  note = '',
  series,
  deprecatedLastTimestamp,
  eventTime,
}: EventsV1Event): FailedCreate {
  const last = series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime
  return {
    note: note.replaceAll(/\s+/g, ' ').slice(0, maxNoteLength),
    atMs: timeOf(last) ?? 0,
  }
}
