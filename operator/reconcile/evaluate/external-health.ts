/**
 * Whether registry dashboards find a Host's replicas, whose health they check on port 8080 of the IP
 * address that is registered. The operator checks the same at the addresses of load balancers. Addresses that
 * the spec gives are not checked: a user who may write a Host could otherwise have the operator call
 * any address. With the network of its node a pod is checked at that address anyway.
 */
import { ports } from '../../../src/service/contract.ts'
import type { Workload } from '../../api.ts'
import { givenAddresses, hasIP, isPrivate } from '../../resources/names/addresses.ts'
import { podName, wantedOrdinals } from '../../resources/names/names.ts'
import { p2pExposure } from '../../resources/objects/services.ts'
import { healthUrl, type Target } from '../observe/health-observer.ts'
import type { HealthView } from '../observe/health-view.ts'
import type { KeptPod } from '../observe/pod.ts'
import { previousMessage } from '../statements/conditions.ts'
import type { Statement } from '../statements/problem.ts'
import { listed } from '../statements/sentences.ts'

/** What answers at an external address: the replica, another peer, or nothing with a health report. */
export type ExternalFinding = 'replica' | 'otherPeer' | 'nobody'

interface Seen {
  /** By ordinal. */
  readonly pods: ReadonlyMap<number, Pick<KeptPod, 'uid' | 'isReady'>>
  readonly views: ReadonlyMap<number, HealthView | null | undefined>
  readonly discovered: readonly (readonly string[])[]
}

/** Whether dashboards are to find health at the addresses of load balancers. */
export function isHealthBalanced(resource: Workload): boolean {
  const { type, publicHealth } = p2pExposure(resource)
  return type === 'LoadBalancer' && publicHealth
}

/** External addresses to check, of replicas that are ready and answer inside the cluster. */
export function externalTargets(resource: Workload, { pods, views, discovered }: Seen): Target[] {
  return [...pods].flatMap(([ordinal, { uid, isReady }]): Target[] => {
    const ip = externalIP(resource, ordinal, discovered)
    const expected = views.get(ordinal)?.peerID ?? null
    return !isReady || ip === null || expected === null ? [] : [{ ordinal, uid, ip, expected }]
  })
}

export function externalFinding({ expected }: Target, view: HealthView | null): ExternalFinding {
  if (view === null) return 'nobody'
  return view.peerID === expected ? 'replica' : 'otherPeer'
}

/** What to report of replicas that do not answer externally; null where all do, or it is not known. */
export function externalHealthStatement(
  resource: Workload,
  discovered: Seen['discovered'],
  findings: ReadonlyMap<number, ExternalFinding>,
): Statement<'HealthPortUnreachable'> | null {
  const ordinals = wantedOrdinals(resource)
  const wrong = ordinals.flatMap((ordinal) => {
    const ip = externalIP(resource, ordinal, discovered)
    return ip === null ? [] : wrongAt(resource, { ordinal, ip }, findings.get(ordinal))
  })
  if (wrong.length === 0) return null
  const message = `Asked from within the cluster, not found where registry dashboards ask: ${listed(wrong)}. Open port ${ports.health} on the load balancer and in its firewall, and see that nothing else has the address. Where the replica answers from outside, this cluster does not reach its own load balancer: write the address to spec.services.p2p.announce, and it is asked no more.`
  return { reason: 'HealthPortUnreachable', message }
}

/** Until it is known, the status keeps what it says of an address. */
function wrongAt(
  resource: Workload,
  { ordinal, ip }: Pick<Target, 'ordinal' | 'ip'>,
  finding: ExternalFinding | undefined,
): string[] {
  const place = `${podName(resource, ordinal)} at ${healthUrl(ip)}`
  const texts = { nobody: `${place} (no health report)`, otherPeer: `${place} (another peer)` }
  if (finding === 'replica') return []
  if (finding !== undefined) return [texts[finding]]
  const reported = previousMessage(resource, 'AddressPublished', 'HealthPortUnreachable')
  return Object.values(texts).filter((text) => reported?.includes(text))
}

/** The public address that a load balancer has for a replica, of the kind that dashboards know first. */
function externalIP(
  resource: Workload,
  ordinal: number,
  discovered: Seen['discovered'],
): string | null {
  if (!isHealthBalanced(resource) || givenAddresses(resource, ordinal).some(hasIP)) return null
  const found = (discovered[ordinal] ?? []).filter(
    (address) => hasIP(address) && !isPrivate(address),
  )
  const address = found.find((one) => one.startsWith('/ip4/')) ?? found[0]
  return address?.split('/')[2] ?? null
}
