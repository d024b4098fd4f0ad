/** Puts a backup together from what is in the cluster, and checks it. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'
import { records } from '../../api/annotations.ts'
import { claimName, networkOf, specReplicas } from '../../resources/names/names.ts'
import { secretValue } from '../../resources/names/secret.ts'
import { keyringFingerprint } from '../../resources/secrets/keyring-secret.ts'
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import { describeResource } from '../cluster/resources.ts'
import { type IdentityBackup, type ReplicaBackup, signerIn } from './backup-file.ts'
import { readVolume } from './keys-volume.ts'
import { type StandingIdentity, volumeOf } from './standing-identity.ts'

interface TakeOptions {
  /** For helper pods, where the cluster does not say it. */
  readonly image?: string | undefined
  readonly nowMs: number
  readonly signal?: AbortSignal | undefined
}

interface TakenBackup {
  readonly backup: IdentityBackup
  /** Replicas that no longer belong to the resource and of which a part is missing, with what is. */
  readonly left: readonly string[]
}

/**
 * A backup of all replicas that have an identity. Throws PLUGIN_IDENTITY_INCOMPLETE where one that the resource wants
 * lacks a part, since the rest would restore nothing.
 */
export async function takeBackup(
  access: Pick<ClusterAccess, 'api' | 'exec'>,
  standing: StandingIdentity,
  options: TakeOptions,
): Promise<TakenBackup> {
  const { named, keyringName, resource, claims } = standing
  const replicas: ReplicaBackup[] = []
  const left: string[] = []
  for (const ordinal of ordinalsOf(standing)) {
    const found = await replicaBackup(access, standing, ordinal, options)
    if (typeof found !== 'string') replicas.push(found)
    else if (isNeeded(standing, ordinal)) throw incomplete(standing, ordinal, found)
    else left.push(`replica ${ordinal} is not in it: ${found}`)
  }
  if (replicas.length === 0) throw nothing(standing)
  const first = claims[0]?.object
  const backup: IdentityBackup = {
    kind: named.kind,
    name: named.metadata.name,
    namespace: named.metadata.namespace,
    network: networkIn(standing, first),
    keyring: { secret: keyringName, isOwn: resource?.spec.identity.secretRef !== undefined },
    storage: {
      size: first?.spec?.resources?.requests?.['storage'] ?? '1Gi',
      storageClassName: first?.spec?.storageClassName ?? null,
    },
    image: options.image ?? resource?.status?.image ?? null,
    createdAt: new Date(options.nowMs).toISOString(),
    replicas,
  }
  return { backup, left }
}

/** Of replicas that are wanted, and of claims that there are, in their order. */
function ordinalsOf({ resource, claims }: StandingIdentity): number[] {
  const wanted = resource === null ? 0 : specReplicas(resource)
  return [...new Set([...Array(wanted).keys(), ...claims.map(({ ordinal }) => ordinal)])]
}

/** Without a resource nobody says which were wanted last: all that there are. */
function isNeeded({ resource }: StandingIdentity, ordinal: number): boolean {
  return resource === null || ordinal < specReplicas(resource)
}

/** The replica, or what is missing of it. */
async function replicaBackup(
  access: Pick<ClusterAccess, 'api' | 'exec'>,
  standing: StandingIdentity,
  ordinal: number,
  { image, signal }: TakeOptions,
): Promise<ReplicaBackup | string> {
  const { named, resource, keyringName, keyring, claims } = standing
  const key = keyring === null ? undefined : secretValue(keyring, String(ordinal))
  if (key === undefined) return `Secret ${keyringName} has no key "${ordinal}"`
  const claim = claims.find((one) => one.ordinal === ordinal)
  if (claim === undefined) return `there is no claim ${claimName(named, 'keys', ordinal)}`
  const keyFile = await readVolume(access, volumeOf(standing, claim, image), signal)
  const { name = '', uid = '' } = claim.object.metadata ?? {}
  if (keyFile === null) return `claim ${name} has no key file yet`
  const node = resource?.status?.nodes?.find((one) => one.ordinal === ordinal)
  return {
    ordinal,
    key,
    keyringFingerprint: await keyringFingerprint(key),
    keyFile,
    identity: await signerIn(named.kind, keyFile, key, `claim ${name}`),
    peerID: node?.peerID ?? null,
    keysClaimUID: uid,
  }
}

function networkIn(standing: StandingIdentity, claim: V1PersistentVolumeClaim | undefined): string {
  const found =
    standing.resource === null
      ? claim?.metadata?.annotations?.[records.network]
      : networkOf(standing.resource)
  if (found !== undefined) return found
  throw new ServiceError(
    'PLUGIN_IDENTITY_INCOMPLETE',
    `nothing says which chain the claims of ${describeResource(standing.named)} are for`,
    { remedy: `Set their annotation ${records.network}, such as Ethereum__Mainnet.` },
  )
}

function incomplete({ named }: StandingIdentity, ordinal: number, what: string): ServiceError {
  return new ServiceError(
    'PLUGIN_IDENTITY_INCOMPLETE',
    `replica ${ordinal} of ${describeResource(named)} has no whole identity: ${what}`,
    {
      remedy:
        'Wait until it has started once, or restore what was lost; half an identity is no backup.',
    },
  )
}

function nothing({ named }: StandingIdentity): ServiceError {
  return new ServiceError(
    'PLUGIN_IDENTITY_INCOMPLETE',
    `there is no identity of ${describeResource(named)}`,
    { remedy: 'See which there are: kubectl viewmesh claims, and kubectl get viewmesh -A.' },
  )
}
