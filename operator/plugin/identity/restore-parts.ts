/** The writes of a restore, each safe to repeat. */
import type { V1PersistentVolumeClaim, V1Secret } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'
import { records } from '../../api/annotations.ts'
import { opaqueSecret } from '../../resources/names/secret.ts'
import { claimLabels } from '../../resources/objects/claims.ts'
import { addKeys, keyringMetadata } from '../../resources/secrets/keyring-secret.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import type { IdentityBackup, ReplicaBackup } from './backup-file.ts'
import { withHelperPod } from './helper-pod.ts'
import { fetchKeyFile, placeKeyFile } from './key-directory.ts'
import { helperImage, type KeysVolume } from './keys-volume.ts'
import type { StandingIdentity } from './standing-identity.ts'

interface NewClaim {
  readonly claimName: string
  /** Default is that of the resource, or else of the backup. */
  readonly storageClass?: string | undefined
}

/** An empty claim without a mark, on which no operator starts a replica. */
export async function createClaim(
  api: KubernetesApi,
  { named, resource }: StandingIdentity,
  { network, storage }: IdentityBackup,
  { claimName, storageClass }: NewClaim,
): Promise<V1PersistentVolumeClaim> {
  const { size, storageClassName = null } = resource?.spec.storage.keys ?? storage
  const className = storageClass ?? storageClassName
  return await api.create<V1PersistentVolumeClaim>(builtinTypes.PersistentVolumeClaim, {
    metadata: {
      name: claimName,
      namespace: named.metadata.namespace,
      labels: claimLabels(named, 'keys'),
      annotations: { [records.network]: network },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      ...(className === null ? {} : { storageClassName: className }),
      resources: { requests: { storage: size } },
    },
  })
}

/** Writes the key file to an empty volume, and reads it back. */
export async function fillClaim(
  { api, exec }: Pick<ClusterAccess, 'api' | 'exec'>,
  volume: KeysVolume,
  { keyFile }: ReplicaBackup,
  signal?: AbortSignal,
): Promise<void> {
  const { program, claim, placement } = volume
  const { name = '', namespace = '' } = claim.metadata ?? {}
  const options = { namespace, claim: name, image: helperImage(volume), placement, readOnly: false }
  await withHelperPod(
    api,
    options,
    async (address) => {
      await placeKeyFile(exec, address, { program, text: keyFile }, signal)
      if ((await fetchKeyFile(exec, address, program, signal)) === keyFile) return
      throw new ServiceError(
        'PLUGIN_KEYS_UNREADABLE',
        `claim ${name} does not keep what is written to it`,
        {
          remedy: 'Check the volume of the claim; it is not used as it is.',
        },
      )
    },
    signal,
  )
}

/** Says whose identity is on the claim; only on this very one. */
export async function markClaim(
  api: KubernetesApi,
  { named }: StandingIdentity,
  { network }: IdentityBackup,
  { keyringFingerprint }: ReplicaBackup,
  { metadata }: V1PersistentVolumeClaim,
): Promise<void> {
  const { name = '', namespace, uid } = metadata ?? {}
  const annotations = {
    [records.network]: network,
    [records.keyringFingerprint]: keyringFingerprint,
  }
  await api.patch(
    { type: builtinTypes.PersistentVolumeClaim, namespace, name },
    { metadata: { uid, labels: claimLabels(named, 'keys'), annotations } },
    { type: 'merge' },
  )
}

/** Gives the keyring these keys, if it still is as it was read. */
export async function writeKeys(
  api: KubernetesApi,
  { named, keyring, keyringName }: StandingIdentity,
  backup: IdentityBackup,
  replicas: readonly ReplicaBackup[],
): Promise<void> {
  const { namespace } = named.metadata
  const keys = new Map(replicas.map(({ ordinal, key }) => [ordinal, key]))
  if (keyring !== null) {
    const address = { type: builtinTypes.Secret, namespace, name: keyringName }
    await api.patch(address, addKeys(keyring, keys), { type: 'json' })
    return
  }
  const metadata = backup.keyring.isOwn
    ? { name: keyringName, namespace }
    : keyringMetadata(named, keyringName)
  await api.create<V1Secret>(builtinTypes.Secret, opaqueSecret(metadata, Object.fromEntries(keys)))
}
