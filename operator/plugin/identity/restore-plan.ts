/** What a restore has to make, and what forbids it. All of it is decided before anything is written. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import { claimName, networkOf } from '../../resources/names/names.ts'
import { secretValue } from '../../resources/names/secret.ts'
import { keyringFingerprint } from '../../resources/secrets/keyring-secret.ts'
import { describeResource } from '../cluster/resources.ts'
import type { IdentityBackup, ReplicaBackup } from './backup-file.ts'
import type { StandingIdentity } from './standing-identity.ts'

/** A replica of the backup beside what is there of it. */
export interface RestoredReplica {
  readonly replica: ReplicaBackup
  readonly claimName: string
  /** The claim that there is; null where it has to be made. */
  readonly claim: V1PersistentVolumeClaim | null
  /** Whether its key has to be written to the keyring. */
  readonly needsKey: boolean
}

export interface RestorePlan {
  readonly replicas: readonly RestoredReplica[]
  /** Why nothing may be written; empty where it may. */
  readonly obstacles: readonly string[]
}

/** Everything but what is on the volumes. `others` are the resources of the kind, wherever they may be seen. */
export async function planRestore(
  backup: IdentityBackup,
  standing: StandingIdentity,
  others: readonly Workload[],
): Promise<RestorePlan> {
  const replicas: RestoredReplica[] = []
  const obstacles = [
    ...runningElsewhere(backup, standing, others),
    ...chainObstacles(backup, standing),
  ]
  for (const replica of backup.replicas) {
    const ofKey = await keyObstacles(standing, replica)
    const claim = standing.claims.find(({ ordinal }) => ordinal === replica.ordinal)?.object ?? null
    obstacles.push(...(ofKey ?? []), ...claimObstacles(claim, backup, replica))
    const name = claimName(standing.named, 'keys', replica.ordinal)
    replicas.push({ replica, claimName: name, claim, needsKey: ofKey === null })
  }
  return { replicas, obstacles }
}

/** Two replicas of one identity sign against each other. */
function runningElsewhere(
  { replicas }: IdentityBackup,
  { named }: StandingIdentity,
  others: readonly Workload[],
): string[] {
  const fingerprints = replicas.map((replica) => replica.keyringFingerprint)
  return others
    .filter((other) => describeResource(other) !== describeResource(named))
    .filter(({ status }) =>
      status?.nodes?.some(({ keyringFingerprint: found = '' }) => fingerprints.includes(found)),
    )
    .map(
      (other) =>
        `${describeResource(other)} has this identity: delete it first, since two programs with one key sign against each other`,
    )
}

function chainObstacles({ network }: IdentityBackup, { resource }: StandingIdentity): string[] {
  if (resource === null || networkOf(resource) === network) return []
  return [
    `${describeResource(resource)} is for ${networkOf(resource)}, and the backup for ${network}`,
  ]
}

/** What keeps its key from being in the keyring; null where nothing does, and it is not there yet. */
async function keyObstacles(
  { keyring, keyringName }: StandingIdentity,
  { ordinal, keyringFingerprint: wanted }: ReplicaBackup,
): Promise<string[] | null> {
  if (keyring?.metadata?.deletionTimestamp !== undefined) {
    return [`Secret ${keyringName} is being deleted: wait until it is gone`]
  }
  const key = keyring === null ? undefined : secretValue(keyring, String(ordinal))
  if (key === undefined) return null
  const found = await keyringFingerprint(key)
  if (found === wanted) return []
  return [
    `key "${ordinal}" of Secret ${keyringName} is that of another identity (fingerprint ${found}, in the backup ${wanted})`,
  ]
}

function claimObstacles(
  claim: V1PersistentVolumeClaim | null,
  { network }: IdentityBackup,
  { keyringFingerprint: wanted }: ReplicaBackup,
): string[] {
  const { name, deletionTimestamp, annotations = {} } = claim?.metadata ?? {}
  if (claim === null) return []
  if (deletionTimestamp !== undefined) {
    return [`claim ${name} is being deleted: wait until it is gone, for which its pod has to end`]
  }
  const mark = annotations[records.keyringFingerprint] ?? wanted
  const chain = annotations[records.network] ?? network
  return [
    ...(mark === wanted
      ? []
      : [`claim ${name} has another identity (fingerprint ${mark}, in the backup ${wanted})`]),
    ...(chain === network ? [] : [`claim ${name} is for ${chain}, and the backup for ${network}`]),
  ]
}
