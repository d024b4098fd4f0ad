/**
 * Whether registry dashboards find a Host's replicas, whose health they ask for on port 8080 of the IP
 * address that is registered. The operator asks the same of addresses that load balancers have. Those that
 * the spec gives are asked by nobody here: who may write a Host could otherwise have the operator call
 * any address. In the network of a machine the pod is asked at that address anyway.
 */
import { ports } from '../../../src/service/contract.ts'
import type { Resource } from '../../api.ts'
import { givenAddresses } from '../../resources/addresses.ts'
import { podName, wantedOrdinals } from '../../resources/names.ts'
import { p2pExposure } from '../../resources/services.ts'
import { toldBefore } from '../condition-list.ts'
import { hasIP, isPrivate } from '../ip-address.ts'
import { listed } from '../listed.ts'
import type { KeptPod } from '../pod.ts'
import type { Statement } from '../problem.ts'
import { healthUrl, type Target } from './health-observer.ts'
import type { HealthView } from './health-view.ts'

/** Who answers at an outside address: the replica, another peer, or nobody with a health report. */
export type OutsideFinding = 'replica' | 'stranger' | 'nobody'

interface Seen {
  /** By ordinal. */
  readonly pods: ReadonlyMap<number, Pick<KeptPod, 'uid' | 'isReady'>>
  readonly views: ReadonlyMap<number, HealthView | null | undefined>
  readonly learnt: readonly (readonly string[])[]
}

/** Whether dashboards are to find health at the addresses of load balancers. */
export function isHealthBalanced(resource: Resource): boolean {
  const { type, publicHealth } = p2pExposure(resource)
  return type === 'LoadBalancer' && publicHealth
}

/** Outside addresses to ask, of replicas that are ready and answer inside. */
export function outsideTargets(resource: Resource, { pods, views, learnt }: Seen): Target[] {
  return [...pods].flatMap(([ordinal, { uid, isReady }]): Target[] => {
    const ip = askedIP(resource, ordinal, learnt)
    const expected = views.get(ordinal)?.peerID ?? null
    return !isReady || ip === null || expected === null ? [] : [{ ordinal, uid, ip, expected }]
  })
}

export function outsideFinding({ expected }: Target, view: HealthView | null): OutsideFinding {
  if (view === null) return 'nobody'
  return view.peerID === expected ? 'replica' : 'stranger'
}

/** What to say of replicas that do not answer outside; null where all do, or nobody knows. */
export function outsideHealthStatement(
  resource: Resource,
  learnt: Seen['learnt'],
  findings: ReadonlyMap<number, OutsideFinding>,
): Statement<'HealthPortUnreachable'> | null {
  const ordinals = wantedOrdinals(resource)
  const wrong = ordinals.flatMap((ordinal) => {
    const ip = askedIP(resource, ordinal, learnt)
    return ip === null ? [] : wrongAt(resource, { ordinal, ip }, findings.get(ordinal))
  })
  if (wrong.length === 0) return null
  const message = `Asked from within the cluster, not found where registry dashboards ask: ${listed(wrong)}. Open port ${ports.health} on the load balancer and in its firewall, and see that nothing else has the address. Where the replica answers from outside, this cluster does not reach its own load balancer: write the address to spec.services.p2p.announce, and it is asked no more.`
  return { reason: 'HealthPortUnreachable', message }
}

/** Until it is known, what status says of an address holds. */
function wrongAt(
  resource: Resource,
  { ordinal, ip }: Pick<Target, 'ordinal' | 'ip'>,
  finding: OutsideFinding | undefined,
): string[] {
  const place = `${podName(resource, ordinal)} at ${healthUrl(ip)}`
  const texts = { nobody: `${place} (no health report)`, stranger: `${place} (another peer)` }
  if (finding === 'replica') return []
  if (finding !== undefined) return [texts[finding]]
  const told = toldBefore(resource, 'AddressPublished', 'HealthPortUnreachable')
  return Object.values(texts).filter((text) => told?.includes(text))
}

/** The public address that a load balancer has for a replica, of the kind that dashboards know first. */
function askedIP(resource: Resource, ordinal: number, learnt: Seen['learnt']): string | null {
  if (!isHealthBalanced(resource) || givenAddresses(resource, ordinal).some(hasIP)) return null
  const found = (learnt[ordinal] ?? []).filter((address) => hasIP(address) && !isPrivate(address))
  const address = found.find((one) => one.startsWith('/ip4/')) ?? found[0]
  return address?.split('/')[2] ?? null
}
