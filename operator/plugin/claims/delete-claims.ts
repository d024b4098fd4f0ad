/**
 * `kubectl viewmesh claims delete`: deletes claims that nothing uses. A claim with an identity is deleted only
 * where a backup of that very claim is at hand, or where a person types its name once more.
 */
import { ServiceError } from '../../../src/errors.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import type { IdentityBackup } from '../identity/backup-file.ts'
import type { Output } from '../text/output.ts'
import type { ClaimUse } from './claim-use.ts'
import { claimsNamed } from './claims-command.ts'
import { readClaims } from './read-claims.ts'

interface DeleteClaimsOptions {
  /** Names of claims, or `KIND/NAME` for all unused ones of a resource without an identity. */
  readonly targets: readonly string[]
  readonly backups: readonly IdentityBackup[]
  /** Names of claims whose identity may be lost. */
  readonly yesDeleteIdentity: readonly string[]
}

type Allowed = Pick<DeleteClaimsOptions, 'backups' | 'yesDeleteIdentity'>

/**
 * Checks all before it deletes the first, and each once more right before it goes. Throws PLUGIN_CLAIM_KEPT for
 * a claim that is named and may not go.
 */
export async function deleteClaims(
  access: Pick<ClusterAccess, 'api' | 'namespace'>,
  options: DeleteClaimsOptions,
  output: Output,
): Promise<0> {
  const { api, namespace } = access
  const chosen = chooseClaims(await readClaims(api, namespace), options, output)
  for (const { name, uid } of chosen) {
    const now = (await readClaims(api, namespace)).find((claim) => claim.uid === uid)
    if (now === undefined) continue
    const obstacle = obstacleOf(now, options)
    if (obstacle !== null) throw kept(now, obstacle)
    if (await deleteClaim(access, now)) output.line(`claim ${name} is deleted`)
  }
  if (chosen.length === 0) output.note('No claim was deleted.')
  return 0
}

/** Each once. Named ones have to be deletable; of a resource those that are not are only reported. */
function chooseClaims(
  claims: readonly ClaimUse[],
  options: DeleteClaimsOptions,
  output: Output,
): ClaimUse[] {
  const chosen = options.targets.flatMap((target) => {
    if (target.includes('/')) {
      return claimsNamed(claims, target).filter((claim) => {
        const obstacle = obstacleOf(claim, options)
        if (obstacle !== null) output.note(`claim ${claim.name} is kept: ${obstacle.why}`)
        return obstacle === null
      })
    }
    const named = claims.find(({ name }) => name === target)
    if (named === undefined) throw noClaim(target)
    const obstacle = obstacleOf(named, options)
    if (obstacle !== null) throw kept(named, obstacle)
    return [named]
  })
  return [...new Map(chosen.map((claim) => [claim.uid, claim])).values()]
}

/** Why a claim may not go, and what to do. */
interface Obstacle {
  readonly why: string
  readonly remedy: string
}

function obstacleOf(claim: ClaimUse, { backups, yesDeleteIdentity }: Allowed): Obstacle | null {
  const { name, usedBy, isTerminating, hasIdentity, resource, uid } = claim
  if (isTerminating) {
    return { why: 'it is being deleted already', remedy: 'Wait until its last pod has ended.' }
  }
  if (usedBy !== null) {
    return {
      why: `${usedBy} uses it`,
      remedy: 'Delete that, or lower spec.replicas, and wait until the pod is gone.',
    }
  }
  if (!hasIdentity || yesDeleteIdentity.includes(name)) return null
  const isBackedUp = backups.some(({ replicas }) =>
    replicas.some((one) => one.keysClaimUID === uid),
  )
  return isBackedUp
    ? null
    : {
        why: 'it holds an identity, which cannot be made again',
        remedy: `Show its backup with --backup FILE (kubectl viewmesh backup ${resource} -f FILE makes one while the ${resource.split('/')[0]} exists), or give the identity up with --yes-delete-identity ${name}.`,
      }
}

/** Only the claim that was checked, and only as it was then. False where it is gone. */
async function deleteClaim(
  { api, namespace }: Pick<ClusterAccess, 'api' | 'namespace'>,
  { name, uid, resourceVersion }: ClaimUse,
): Promise<boolean> {
  const address = { type: builtinTypes.PersistentVolumeClaim, namespace, name }
  try {
    return await api.delete(address, { uid, resourceVersion })
  } catch (error) {
    if (!hasCode(error, 'OPERATOR_API_CONFLICT')) throw error
    throw new ServiceError('PLUGIN_CLAIM_KEPT', `claim ${name} was changed just now, and is kept`, {
      remedy: 'Look at it with kubectl viewmesh claims, and try again.',
      cause: error,
    })
  }
}

function kept({ name }: ClaimUse, { why, remedy }: Obstacle): ServiceError {
  return new ServiceError('PLUGIN_CLAIM_KEPT', `claim ${name} is kept: ${why}`, { remedy })
}

function noClaim(name: string): ServiceError {
  return new ServiceError(
    'PLUGIN_ARGUMENT_INVALID',
    `there is no claim ${name} of a Generator or Host`,
    {
      remedy: 'Choose from those that kubectl viewmesh claims lists.',
    },
  )
}
