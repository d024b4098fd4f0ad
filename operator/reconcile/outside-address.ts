/** Addresses at which the outside reaches replicas: learnt from Services and machines, or given. */
import type { V1Service } from '@kubernetes/client-node'
import { ports } from '../../src/service/contract.ts'
import type { ReasonOf } from '../api/conditions.ts'
import type { Resource } from '../api.ts'
import { givenAddresses } from '../resources/addresses.ts'
import { p2pServiceName, podName, wantedOrdinals, wantedReplicas } from '../resources/names.ts'
import { p2pExposure } from '../resources/services.ts'
import {
  isHealthBalanced,
  type OutsideFinding,
  outsideHealthStatement,
} from './health/outside-health.ts'
import { hasIP, isPrivate } from './ip-address.ts'
import { listed } from './listed.ts'
import { outsideAddresses } from './node-address.ts'
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
  return wantedOrdinals(resource).map((ordinal) => {
    const balanced = sources.ingress.get(p2pServiceName(resource, ordinal)) ?? []
    const { type } = p2pExposure(resource)
    const pod = sources.pods.get(podName(resource, ordinal))
    if (type === 'LoadBalancer') return balanced.flatMap(addressOfIngress)
    return pod?.isHostNetwork && pod.hostIP !== null ? [ipAddress(pod.hostIP)] : []
  })
}

/** By ordinal. */
type Addresses = readonly (readonly string[])[]

export type AddressStatement = Statement<ReasonOf<'AddressPublished'>>

/** What to say about addresses, given those that `learntAddresses` found, and who answers there. */
export function addressStatement(
  resource: Resource,
  learnt: Addresses,
  outside: ReadonlyMap<number, OutsideFinding> = new Map(),
): AddressStatement {
  const { type } = p2pExposure(resource)
  if (wantedReplicas(resource) === 0) {
    return { reason: 'NotNeeded', message: 'No pods are wanted.' }
  }
  const told = wantedOrdinals(resource).map((ordinal) =>
    outsideAddresses(resource, ordinal, learnt),
  )
  if (type === 'LoadBalancer') {
    return (
      balancerProblem(resource, told) ??
      outsideHealthStatement(resource, learnt, outside) ?? {
        reason: 'LoadBalancer',
        message: toldMessage(told),
      }
    )
  }
  if (type === 'NodePort' && told.some(isEmpty)) return nodePortStatement(resource, told)
  if (wantedOrdinals(resource).some((ordinal) => givenAddresses(resource, ordinal).length > 0)) {
    return manualStatement(resource, told)
  }
  if (resource.spec.podTemplate?.spec?.hostNetwork === true && type !== 'ClusterIP') {
    return machineStatement(resource, learnt)
  }
  return { reason: 'InCluster', message: 'Reached from within the cluster only.' }
}

function machineStatement(resource: Resource, learnt: Addresses): AddressStatement {
  const waiting = unknownOrdinals(wantedOrdinals(resource).map((ordinal) => learnt[ordinal] ?? []))
  if (waiting.length === 0) {
    return { reason: 'HostNetwork', message: `Those of the machines: ${listed(learnt.flat())}.` }
  }
  const names = waiting.map((ordinal) => podName(resource, ordinal))
  return { reason: 'Pending', message: `Not on a machine yet: ${listed(names)}; see Ready.` }
}

function manualStatement(resource: Resource, told: Addresses): AddressStatement {
  const names = unknownOrdinals(told).map((ordinal) => podName(resource, ordinal))
  const rest = names.length === 0 ? '' : ` From within the cluster only: ${listed(names)}.`
  return { reason: 'Manual', message: `${toldMessage(told)}${rest}` }
}

/** Null where each replica has an address that the outside can use. */
function balancerProblem(resource: Resource, told: Addresses): AddressStatement | null {
  const waiting = unknownOrdinals(told)
  if (waiting.length > 0) {
    const names = waiting.map((ordinal) => p2pServiceName(resource, ordinal))
    return {
      reason: 'Pending',
      message: `No address yet from the load balancer of ${listed(names)}: see whether this cluster has one for Services of type LoadBalancer.`,
    }
  }
  const named = told.filter((addresses) => !addresses.some(hasIP))
  if (isHealthBalanced(resource) && named.length > 0) return hostnameStatement(named)
  const hidden = told.filter((addresses) => addresses.every(isPrivate))
  return hidden.length === 0 ? null : privateStatement(resource, hidden.flat())
}

function hostnameStatement(told: Addresses): AddressStatement {
  const message = `Registry dashboards ask for health by IP address, and there are only names in ${listed(told.flat())}: give the load balancer fixed IP addresses, mostly by spec.services.p2p.annotations, and write those that it does not tell to spec.services.p2p.announce. Where no dashboard asks, set spec.services.p2p.publicHealth to false.`
  return { reason: 'HostnameOnly', message }
}

function privateStatement(resource: Resource, addresses: readonly string[]): AddressStatement {
  const service = resource.kind === 'Generator' ? 'p2p.service' : 'services.p2p'
  const remedy = `ask this cluster for a public load balancer by spec.${service}.annotations, or write the outside address to spec.${announceField(resource)}`
  const message = `Private networks only reach ${listed(addresses)}: ${remedy}.`
  return { reason: 'PrivateAddress', message }
}

function nodePortStatement(resource: Resource, told: Addresses): AddressStatement {
  const names = unknownOrdinals(told).map((ordinal) => podName(resource, ordinal))
  const message = `A Service of type NodePort does not tell the address of the machines: write that of ${listed(names)} to ${announceField(resource)}, or use LoadBalancer.`
  return { reason: 'AddressUnknown', message }
}

function announceField({ kind }: Resource): string {
  return kind === 'Generator' ? 'p2p.announce' : 'services.p2p.announce'
}

function toldMessage(told: Addresses): string {
  return `Told to peers: ${listed(told.flat())}.`
}

function addressOfIngress({ ip, hostname }: Ingress[number]): string[] {
  if (ip !== undefined) return [ipAddress(ip)]
  return hostname === undefined ? [] : [`/dns4/${hostname}/tcp/${ports.p2p}`]
}

function ipAddress(ip: string): string {
  return `/${ip.includes(':') ? 'ip6' : 'ip4'}/${ip}/tcp/${ports.p2p}`
}

/** Replicas of which no address is known. */
function unknownOrdinals(addresses: Addresses): number[] {
  return addresses.flatMap((known, ordinal) => (isEmpty(known) ? [ordinal] : []))
}

function isEmpty(addresses: readonly string[]): boolean {
  return addresses.length === 0
}
