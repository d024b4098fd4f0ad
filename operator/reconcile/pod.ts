/** What is kept of a pod: where it is, how it is, and why it is not well. */
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node'

export interface KeptPod {
  readonly name: string
  readonly uid: string
  readonly isGoing: boolean
  readonly isReady: boolean
  readonly ip: string | null
  /** Address of its machine. */
  readonly hostIP: string | null
  readonly isHostNetwork: boolean
  /** What keeps it from running, as Kubernetes says it; null where nothing does. */
  readonly trouble: PodTrouble | null
}

export interface PodTrouble {
  readonly kind: 'failing' | 'unschedulable'
  readonly message: string
}

/** Reasons of waiting containers that do not go away by themselves. */
const failures: readonly string[] = [
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'RunContainerError',
]

export function keepPod({ metadata, spec, status }: V1Pod): KeptPod {
  const isReady = status?.conditions?.some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  )
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    isGoing: metadata?.deletionTimestamp !== undefined,
    isReady: isReady === true,
    ip: status?.podIP || null,
    hostIP: status?.hostIP || null,
    isHostNetwork: spec?.hostNetwork === true,
    trouble: troubleOf(status),
  }
}

function troubleOf(status: V1Pod['status']): PodTrouble | null {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.reason === 'Unschedulable') {
    return { kind: 'unschedulable', message: scheduled.message ?? 'no machine fits' }
  }
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const message = statuses.map(containerTrouble).find((text) => text !== null)
  return message === undefined ? null : { kind: 'failing', message }
}

/** The last lines of a program that ended say why; a key or token is never among them. */
function containerTrouble({ name, state, lastState }: V1ContainerStatus): string | null {
  const reason = state?.waiting?.reason ?? ''
  if (!failures.includes(reason)) return null
  const ended = lastState?.terminated
  const code = ended === undefined ? '' : ` (ended with code ${ended.exitCode})`
  return `container ${name}: ${reason}${code}${detail(state?.waiting?.message)}`
}

function detail(message: string | undefined): string {
  return message ? `: ${message.slice(0, 300)}` : ''
}
