/**
 * A pod that does nothing but have a keys claim mounted, for a moment: the way to a key directory while no
 * program runs on it. It has no token, no network of ours and no rights, and ends by itself.
 */
import { randomBytes } from 'node:crypto'
import type { V1Pod, V1PodSpec } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'
import { keysPath } from '../../resources/names/paths.ts'
import { containerSecurity, podSecurity } from '../../resources/pod/pod-security.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ContainerAddress } from '../cluster/exec.ts'

/** What pods on this cluster need to be placed and to get their image. */
export type Placement = Pick<
  V1PodSpec,
  'nodeSelector' | 'tolerations' | 'affinity' | 'imagePullSecrets'
>

interface HelperOptions {
  readonly namespace: string
  readonly claim: string
  readonly image: string
  readonly placement: Placement
  /** False to write. */
  readonly readOnly: boolean
}

const container = 'keys'
const lifeSeconds = 600
const startMs = 180_000
const waitProgram = `setTimeout(() => undefined, ${lifeSeconds * 1_000})`

/** The pod, as it is created. */
function helperPod(name: string, options: HelperOptions): V1Pod {
  const { namespace, claim, image, placement, readOnly } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: {
        'app.kubernetes.io/part-of': 'viewmesh',
        'app.kubernetes.io/managed-by': 'kubectl-viewmesh',
      },
    },
    spec: {
      ...placement,
      restartPolicy: 'Never',
      activeDeadlineSeconds: lifeSeconds,
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: podSecurity,
      containers: [
        {
          name: container,
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '-e', waitProgram],
          resources: {
            requests: { cpu: '10m', memory: '64Mi' },
            limits: { memory: '256Mi' },
          },
          securityContext: containerSecurity,
          volumeMounts: [{ name: 'keys', mountPath: keysPath, readOnly }],
        },
      ],
      volumes: [{ name: 'keys', persistentVolumeClaim: { claimName: claim } }],
    },
  }
}

/**
 * Creates the pod, waits until it runs, and deletes it whatever `use` does. Throws PLUGIN_HELPER_FAILED where it does
 * not start.
 */
export async function withHelperPod<T>(
  api: KubernetesApi,
  options: HelperOptions,
  use: (address: ContainerAddress) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { namespace } = options
  const name = `viewmesh-keys-${randomBytes(4).toString('hex')}`
  const created = await api.create(builtinTypes.Pod, helperPod(name, options), { signal })
  try {
    await untilItRuns(api, created, signal)
    return await use({ namespace, pod: name, container })
  } finally {
    await api.delete({ type: builtinTypes.Pod, namespace, name }, { uid: created.metadata?.uid })
  }
}

async function untilItRuns(
  api: KubernetesApi,
  created: V1Pod,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { name = '', namespace, resourceVersion = '' } = created.metadata ?? {}
  const late = AbortSignal.timeout(startMs)
  const either = AbortSignal.any([late, ...(signal === undefined ? [] : [signal])])
  const changes = api.watch<V1Pod>(
    { type: builtinTypes.Pod, namespace, fieldSelector: `metadata.name=${name}` },
    { resourceVersion, signal: either, seconds: startMs / 1_000, silenceMs: startMs },
  )
  let last = created
  try {
    for await (const { type, object } of changes) {
      if (type === 'BOOKMARK') continue
      last = object
      if (hasStarted(type, object)) return
    }
  } catch (error) {
    if (!late.aborted) throw error
  }
  throw failed(last, waitingFor(last))
}

/** Throws PLUGIN_HELPER_FAILED where it will not start any more. */
function hasStarted(change: string, pod: V1Pod): boolean {
  const failure = change === 'DELETED' ? 'it was deleted' : failureOf(pod)
  if (failure !== null) throw failed(pod, failure)
  return pod.status?.containerStatuses?.[0]?.state?.running !== undefined
}

/** Reasons of waiting containers that do not go away by themselves. */
const lasting = /^(?:ErrImage|ImagePull|InvalidImage|CreateContainer|RunContainer|CrashLoop)/

function failureOf({ status }: V1Pod): string | null {
  if (status?.phase === 'Failed') return status.message ?? status.reason ?? 'it ended'
  const { reason = '', message = '' } = status?.containerStatuses?.[0]?.state?.waiting ?? {}
  return lasting.test(reason) ? `${reason} ${message}`.trim() : null
}

/** What Kubernetes says of a pod that does not start. */
function waitingFor({ status }: V1Pod): string {
  const placed = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const waiting = status?.containerStatuses?.[0]?.state?.waiting?.reason
  return (
    placed?.message ??
    waiting ??
    `it is still ${status?.phase ?? 'Pending'} after ${startMs / 1_000} s`
  )
}

function failed({ metadata, spec }: V1Pod, why: string): ServiceError {
  const claim = spec?.volumes?.[0]?.persistentVolumeClaim?.claimName
  return new ServiceError(
    'PLUGIN_HELPER_FAILED',
    `pod ${metadata?.namespace}/${metadata?.name}, which is to mount claim ${claim}, does not start: ${why}`,
    {
      remedy:
        'Name an image of a Generator or Host that this cluster can pull with --image, and see that the volume can be mounted.',
    },
  )
}
