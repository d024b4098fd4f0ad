/** Reads the key file of a replica: in its own pod while that runs, else in a helper pod beside the volume. */
import type { V1PersistentVolumeClaim, V1Pod, V1PodSpec } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'
import type { ProgramName } from '../../../src/service/contract.ts'
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import { type Placement, withHelperPod } from './helper-pod.ts'
import { fetchKeyFile } from './key-directory.ts'

/** Where a key directory is. */
export interface KeysVolume {
  readonly program: ProgramName
  readonly claim: V1PersistentVolumeClaim
  /** The pod of the replica; null where there is none. */
  readonly pod: V1Pod | null
  /** For a helper; null where nobody knows an image. */
  readonly image: string | null
  /** For a helper where there is no pod. */
  readonly placement: Placement
}

/** The text of the key file; null where the volume has none. */
export async function readVolume(
  { api, exec }: Pick<ClusterAccess, 'api' | 'exec'>,
  volume: KeysVolume,
  signal?: AbortSignal,
): Promise<string | null> {
  const { program, claim, pod } = volume
  const { name = '', namespace = '' } = claim.metadata ?? {}
  if (pod !== null && runs(pod, program)) {
    const address = { namespace, pod: pod.metadata?.name ?? '', container: program }
    return await fetchKeyFile(exec, address, program, signal)
  }
  const placement = pod?.spec === undefined ? volume.placement : besidePod(pod.spec)
  const options = { namespace, claim: name, image: helperImage(volume), placement, readOnly: true }
  return await withHelperPod(
    api,
    options,
    (address) => fetchKeyFile(exec, address, program, signal),
    signal,
  )
}

/** The image of a helper. Throws PLUGIN_ARGUMENT_INVALID where there is none. */
export function helperImage({ image }: Pick<KeysVolume, 'image'>): string {
  if (image !== null) return image
  throw new ServiceError(
    'PLUGIN_ARGUMENT_INVALID',
    'no image is known for the pod that mounts the claim',
    {
      remedy: 'Name one of a Generator or Host that this cluster can pull: --image IMAGE.',
    },
  )
}

/** Where the pods of a template go. */
export function placementOf(spec: Partial<V1PodSpec> | undefined): Placement {
  const { nodeSelector, tolerations, affinity, imagePullSecrets } = spec ?? {}
  return {
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(affinity?.nodeAffinity === undefined
      ? {}
      : { affinity: { nodeAffinity: affinity.nodeAffinity } }),
    ...(imagePullSecrets === undefined ? {} : { imagePullSecrets }),
  }
}

/** A volume is mounted on one machine at a time: on that of the pod, where it has one. */
function besidePod(spec: V1PodSpec): Placement {
  const placement = placementOf(spec)
  if (spec.nodeName === undefined) return placement
  const onIt = { key: 'metadata.name', operator: 'In', values: [spec.nodeName] }
  const required = { nodeSelectorTerms: [{ matchFields: [onIt] }] }
  return {
    ...placement,
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  }
}

function runs({ metadata, status }: V1Pod, program: ProgramName): boolean {
  const container = status?.containerStatuses?.find(({ name }) => name === program)
  return metadata?.deletionTimestamp === undefined && container?.state?.running !== undefined
}
