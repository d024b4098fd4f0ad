/**
 * `kubectl viewmesh restore`: makes what is missing of an identity, and writes over nothing.
 *
 * The order keeps an operator from starting a replica on an empty claim, where its program would make another
 * key: a claim is marked only once its key file is there, and a key is given to the keyring after that. Whatever
 * ends it half way, the next restore goes on from there.
 */

import type { Readable } from 'node:stream'
import type { V1PersistentVolumeClaim, V1StorageClass } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'
import { workloadKinds } from '../../api/resource-kinds.ts'
import type { Workload } from '../../api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import { describeResource } from '../cluster/resources.ts'
import type { Output } from '../text/output.ts'
import type { IdentityBackup } from './backup-file.ts'
import { type KeysVolume, readVolume } from './keys-volume.ts'
import { readBackup } from './read-backup.ts'
import { createClaim, fillClaim, markClaim, writeKeys } from './restore-parts.ts'
import { planRestore, type RestoredReplica, type RestorePlan } from './restore-plan.ts'
import { readStanding, type StandingIdentity, volumeOf } from './standing-identity.ts'

export interface RestoreFlags {
  /** For a pod that mounts claims. */
  readonly image?: string
  /** For claims that are made; default is that of the resource, or else of the backup. */
  readonly storageClass?: string
}

type Access = Pick<ClusterAccess, 'api' | 'exec' | 'namespace'>

/** Throws PLUGIN_IDENTITY_CONFLICT where another identity is in the way. */
export async function restoreCommand(
  access: Access,
  { file, stdin }: { readonly file: string; readonly stdin: Readable },
  flags: RestoreFlags,
  output: Output,
  signal?: AbortSignal,
): Promise<0> {
  const backup = await readBackup(file, stdin)
  const { api, namespace } = access
  const standing = await readStanding(api, namespace, backup, backup.keyring.secret)
  const plan = await planRestore(backup, standing, await othersOf(access, backup, output))
  const obstacles = [
    ...plan.obstacles,
    ...(await classObstacles(access, { backup, standing, plan }, flags)),
  ]
  if (obstacles.length > 0) throw conflict(standing, obstacles)
  if (usesImageOfBackup(backup, standing, flags)) {
    output.note(`Volumes are mounted by pods of the image that the backup names: ${backup.image}`)
  }
  await restoreVolumes(access, { backup, standing, plan }, flags, output, signal)
  const missing = plan.replicas.filter(({ needsKey }) => needsKey).map(({ replica }) => replica)
  if (missing.length > 0) {
    await writeKeys(api, standing, backup, missing)
    output.line(
      `Secret ${standing.keyringName}: keys ${missing.map(({ ordinal }) => `"${ordinal}"`).join(', ')} written`,
    )
  }
  for (const line of closingLines(backup, standing)) output.note(line)
  return 0
}

/** A cluster that knows an image, or a person, is asked first. */
function usesImageOfBackup(
  { image }: IdentityBackup,
  { resource }: StandingIdentity,
  flags: RestoreFlags,
): boolean {
  return flags.image === undefined && resource === null && image !== null
}

/** What a restore works with. */
interface Restoring {
  readonly backup: IdentityBackup
  readonly standing: StandingIdentity
  readonly plan: RestorePlan
}

/** Looks into all volumes that there are before it makes the first. */
async function restoreVolumes(
  access: Access,
  restoring: Restoring,
  flags: RestoreFlags,
  output: Output,
  signal?: AbortSignal,
): Promise<void> {
  const { backup, standing, plan } = restoring
  const empty = new Set<RestoredReplica>()
  for (const restored of plan.replicas) {
    if (restored.claim === null) continue
    const volume = volumeFor(restoring, restored, restored.claim, flags)
    const found = await readVolume(access, volume, signal)
    if (found === null) empty.add(restored)
    else if (found !== restored.replica.keyFile) throw conflict(standing, [otherKeyFile(restored)])
  }
  for (const restored of plan.replicas) {
    const { replica, claim: before, claimName } = restored
    const { storageClass } = flags
    const claim =
      before ?? (await createClaim(access.api, standing, backup, { claimName, storageClass }))
    if (before === null || empty.has(restored)) {
      await fillClaim(access, volumeFor(restoring, restored, claim, flags), replica, signal)
    }
    await markClaim(access.api, standing, backup, replica, claim)
    const what = before === null ? 'made, with' : 'has'
    output.line(`claim ${claimName}: ${what} the key file of replica ${replica.ordinal}`)
  }
}

/** Of the images that may be known, that of the flag goes first, and that of the backup last. */
function volumeFor(
  { backup, standing }: Restoring,
  { replica: { ordinal } }: RestoredReplica,
  claim: V1PersistentVolumeClaim,
  { image }: RestoreFlags,
): KeysVolume {
  const volume = volumeOf(standing, { ordinal, object: claim }, image)
  return { ...volume, image: volume.image ?? backup.image }
}

function otherKeyFile({ claimName }: RestoredReplica): string {
  return `claim ${claimName} has a key file of another identity`
}

/** Resources of the kind in all namespaces, or where those may not be seen, in this one. */
async function othersOf(
  { api, namespace }: Access,
  { kind }: IdentityBackup,
  output: Output,
): Promise<readonly Workload[]> {
  const type = workloadKinds[kind]
  const keep = (resource: Workload): Workload => ({ ...resource, kind }) as Workload
  try {
    return (await api.list({ type }, { keep })).items
  } catch (error) {
    if (!hasCode(error, 'OPERATOR_API_FORBIDDEN')) throw error
    output.note(
      'Whether this identity runs in another namespace could not be seen: make sure that it does not.',
    )
    return (await api.list({ type, namespace }, { keep })).items
  }
}

/** A claim of a class that does not exist would wait for ever. */
async function classObstacles(
  { api }: Access,
  { backup, standing, plan }: Restoring,
  { storageClass }: RestoreFlags,
): Promise<string[]> {
  const isMade = plan.replicas.some(({ claim }) => claim === null)
  if (!isMade || storageClass !== undefined || standing.resource !== null) return []
  const name = backup.storage.storageClassName ?? ''
  if (name === '') return []
  try {
    const found = await api.find<V1StorageClass>({ type: builtinTypes.StorageClass, name })
    return found === null
      ? [`there is no StorageClass ${name} here: name another with --storage-class`]
      : []
  } catch (error) {
    if (hasCode(error, 'OPERATOR_API_FORBIDDEN')) return []
    throw error
  }
}

function closingLines(
  { replicas, kind, name }: IdentityBackup,
  { named, resource }: StandingIdentity,
): string[] {
  return [
    `The identity of ${describeResource(named)} is there:`,
    ...replicas.map(
      ({ ordinal, identity, peerID }) =>
        `  replica ${ordinal}: signs as ${identity}, peer ID ${peerID ?? 'as before'}`,
    ),
    ...(resource === null
      ? [`Now create ${kind} ${name} in namespace ${named.metadata.namespace}.`]
      : []),
    'Make sure that it runs nowhere else, in this cluster or another: two programs with one key sign against each other.',
  ]
}

function conflict({ named }: StandingIdentity, obstacles: readonly string[]): ServiceError {
  return new ServiceError(
    'PLUGIN_IDENTITY_CONFLICT',
    `${describeResource(named)} is not restored: ${obstacles.join('; ')}`,
    {
      remedy:
        'Nothing was written. Restore into another namespace, or remove what is in the way after a backup of it.',
    },
  )
}
