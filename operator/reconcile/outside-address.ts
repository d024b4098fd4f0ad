/** Addresses at which the outside reaches replicas: learnt from Services and machines, or given. */
import type { V1Service } from '@kubernetes/client-node'
import { ports } from '../../src/service/contract.ts'
import type { ReasonOf } from '../api/conditions.ts'
import type { Resource } from '../api.ts'
import { givenAddresses } from '../resources/addresses.ts'
import { p2pServiceName, podName, wantedReplicas } from '../resources/names.ts'
import { p2pExposure } from '../resources/services.ts'
import { listed } from './listed.ts'
import type { KeptPod } from './pod.ts'
import type { Statement } from './problem.ts'

/** Where a load balancer answers: IP addresses, or names where it has no IP addresses of its own. */
export type Ingress = readonly { readonly ip?: string; readonly hostname?: string }[]

export function ingressOf({ status }: V1Service): Ingress {
  return (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ({
    ...(ip ? { ip } : {}),
    ...(hostname ? { hostname } : {}),
  }))
}

/** What outside addresses are learnt from. */
export interface AddressSources {
  /** By name of the Service. */
  readonly ingress: ReadonlyMap<string, Ingress>
  /** By name of the pod. */
  readonly pods: ReadonlyMap<string, KeptPod>
}

/** By ordinal: the learnt outside addresses, as multiaddrs without peer IDs. */
export function learntAddresses(resource: Resource, sources: AddressSources): string[][] {
  return ordinalsOf(resource).map((ordinal) => {
    const balanced = sources.ingress.get(p2pServiceName(resource, ordinal)) ?? []
    const { type } = p2pExposure(resource)
    const pod = sources.pods.get(podName(resource, ordinal))
    if (type === 'LoadBalancer') return balanced.flatMap(addressOfIngress)
    return pod?.isHostNetwork && pod.hostIP !== null ? [ipAddress(pod.hostIP)] : []
  })
}

export type AddressStatement = Statement<ReasonOf<'AddressPublished'>>

/** What to say about addresses, given those that `learntAddresses` found. */
export function addressStatement(
  resource: Resource,
  learnt: readonly (readonly string[])[],
): AddressStatement {
  const manual = givenAddresses(resource)
  const { type } = p2pExposure(resource)
  if (wantedReplicas(resource) === 0) {
    return { reason: 'NotNeeded', message: 'No pods are wanted.' }
  }
  if (type === 'LoadBalancer') return balancerStatement(resource, learnt, manual)
  if (manual.length > 0) return { reason: 'Manual', message: `Told to peers: ${listed(manual)}.` }
  if (resource.spec.podTemplate?.spec?.hostNetwork === true && type === 'None') {
    return machineStatement(resource, learnt)
  }
  if (type === 'NodePort') return nodePortStatement(resource)
  return { reason: 'InCluster', message: 'Reached from within the cluster only.' }
}

function machineStatement(
  resource: Resource,
  learnt: readonly (readonly string[])[],
): AddressStatement {
  const waiting = unknownOrdinals(resource, learnt)
  if (waiting.length === 0) {
    return { reason: 'HostNetwork', message: `Those of the machines: ${listed(learnt.flat())}.` }
  }
  const names = waiting.map((ordinal) => podName(resource, ordinal))
  return { reason: 'Pending', message: `Not on a machine yet: ${listed(names)}; see Ready.` }
}

function balancerStatement(
  resource: Resource,
  learnt: readonly (readonly string[])[],
  manual: readonly string[],
): AddressStatement {
  const waiting = unknownOrdinals(resource, learnt)
  if (waiting.length > 0 && manual.length === 0) {
    const names = waiting.map((ordinal) => p2pServiceName(resource, ordinal))
    return {
      reason: 'Pending',
      message: `No address yet from the load balancer of ${listed(names)}: see whether this cluster has one for Services of type LoadBalancer.`,
    }
  }
  const all = [...manual, ...learnt.flat()]
  if (all.every(isPrivate)) return privateStatement(resource, all)
  return { reason: 'LoadBalancer', message: `Told to peers: ${listed(all)}.` }
}

function privateStatement({ kind }: Resource, addresses: readonly string[]): AddressStatement {
  const ask = 'ask this cluster for a public load balancer by'
  const remedy =
    kind === 'Generator'
      ? `${ask} spec.p2p.service.annotations, or write the outside address to spec.p2p.announce`
      : `${ask} spec.services.p2p.annotations`
  const message = `Private networks only reach ${listed(addresses)}: ${remedy}.`
  return { reason: 'PrivateAddress', message }
}

function nodePortStatement({ kind }: Resource): AddressStatement {
  const message =
    kind === 'Generator'
      ? 'A Service of type NodePort does not tell the address of the machines: write it to p2p.announce, or use LoadBalancer.'
      : 'A Service of type NodePort does not tell the address of the machines, so peers are not told one: use LoadBalancer.'
  return { reason: 'AddressUnknown', message }
}

function addressOfIngress({ ip, hostname }: Ingress[number]): string[] {
  if (ip !== undefined) return [ipAddress(ip)]
  return hostname === undefined ? [] : [`/dns4/${hostname}/tcp/${ports.p2p}`]
}

function ipAddress(ip: string): string {
  return `/${ip.includes(':') ? 'ip6' : 'ip4'}/${ip}/tcp/${ports.p2p}`
}

/**
 * Addresses of RFC 1918, RFC 6598, RFC 3927 and loopback, of IPv6 unique local (RFC 4193) and
 * link-local.
 */
const privateAddress =
  /^\/(ip4\/(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.|127\.)|ip6\/(f[cd]|fe[89ab]|::1\/))/i

function isPrivate(address: string): boolean {
  return privateAddress.test(address)
}

/** Replicas of which no address was learnt. */
function unknownOrdinals(
  resource: Resource,
  learnt: readonly (readonly string[])[],
): readonly number[] {
  return ordinalsOf(resource).filter((ordinal) => (learnt[ordinal] ?? []).length === 0)
}

function ordinalsOf(resource: Resource): number[] {
  return Array.from({ length: wantedReplicas(resource) }, (_, ordinal) => ordinal)
}
