/** `kubectl viewmesh claims`: the volumes of Generators and Hosts, and which of them nothing uses. */
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import { parseResourceName } from '../cluster/resources.ts'
import { ageOf } from '../text/age.ts'
import { inColumns } from '../text/columns.ts'
import type { Output } from '../text/output.ts'
import type { ClaimUse } from './claim-use.ts'
import { readClaims } from './read-claims.ts'

/** Lists those of a resource, or of all in the namespace. */
export async function claimsCommand(
  { api, namespace }: Pick<ClusterAccess, 'api' | 'namespace'>,
  name: string | undefined,
  output: Output,
): Promise<0> {
  const all = await readClaims(api, namespace)
  const claims = name === undefined ? all : claimsNamed(all, name)
  if (claims.length === 0) output.note(`There are no such claims in namespace ${namespace}.`)
  else for (const line of claimLines(claims, Date.now())) output.line(line)
  return 0
}

/** Those of `host/mainnet`. */
export function claimsNamed(claims: readonly ClaimUse[], resource: string): ClaimUse[] {
  const { kind, name } = parseResourceName(resource)
  return claims.filter((claim) => claim.resource === `${kind.toLowerCase()}/${name}`)
}

function claimLines(claims: readonly ClaimUse[], nowMs: number): string[] {
  const rows = claims.map((claim) => [
    claim.name,
    claim.resource,
    claim.isTerminating ? 'terminating' : (claim.usedBy ?? 'unused'),
    claim.hasIdentity ? (claim.fingerprint ?? 'unknown') : '-',
    claim.size,
    ageOf(claim.createdAt, nowMs),
  ])
  return inColumns([['CLAIM', 'RESOURCE', 'USED BY', 'IDENTITY', 'SIZE', 'AGE'], ...rows])
}
