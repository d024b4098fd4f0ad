/** Names of everything that is made for a resource; the standalone charts use the same. */
import type { ProgramName } from '../../../src/service/contract.ts'
import type { Host, Resource, ViewResource, Workload } from '../../api.ts'

/** The volumes of a replica. */
export type Volume = 'keys' | 'data'

/** Names of the objects of one resource. */
interface ChildNames {
  /** StatefulSet, API Service, ServiceAccount, NetworkPolicy and PodDisruptionBudget. */
  readonly base: string
  /** Headless Service that gives pods their names. */
  readonly nodes: string
  /** Service in front of pods that are an upstream. */
  readonly upstream: string
  readonly config: string
  readonly keyring: string
  readonly schemaKeys: string
  readonly connection: string
}

/** What names and labels of a resource's objects are made from. */
export interface NamedResource<K extends Resource['kind'] = Resource['kind']> {
  readonly kind: K
  readonly metadata: { readonly name: string; readonly namespace: string }
}

/** Which program the pods of a resource run. */
export function programOf({ kind }: Pick<Workload, 'kind'>): ProgramName {
  return kind === 'Generator' ? 'generator' : 'host'
}

/** What names of a resource's objects begin with. */
export function baseName(kind: Workload['kind'], name: string): string {
  return `${name}-${programOf({ kind })}`
}

/** A Generator and a Host may share a name, so the kind is part of their children's. */
export function childNames(resource: Workload): ChildNames {
  const base = baseName(resource.kind, resource.metadata.name)
  return {
    base,
    nodes: `${base}-nodes`,
    upstream: `${base}-upstream`,
    config: `${base}-config`,
    keyring: resource.spec.identity.secretRef?.name ?? `${base}-keyring`,
    schemaKeys: `${base}-schema-keys`,
    connection: `${base}-connection`,
  }
}

/** The Service that shows one replica's peer-to-peer port. */
export function p2pServiceName(resource: Workload, ordinal: number): string {
  return `${childNames(resource).base}-p2p-${ordinal}`
}

/** What names of a workload's pods are made from. */
export type NamedWorkload = NamedResource<Workload['kind']>

export function podName({ kind, metadata }: NamedWorkload, ordinal: number): string {
  return `${baseName(kind, metadata.name)}-${ordinal}`
}

/** The claim that a StatefulSet makes for a volume of a replica. */
export function claimName(resource: NamedWorkload, volume: Volume, ordinal: number): string {
  return `${volume}-${podName(resource, ordinal)}`
}

/** The ConfigMap that keeps the bytes of a View. */
export function viewConfigName({ metadata: { name } }: ViewResource): string {
  return `${name}-view`
}

/** One of the ConfigMaps with the Views of a Host. */
export function viewPartName(host: Host, index: number): string {
  return `${childNames(host).base}-views-${index}`
}

/** Whether a ConfigMap is one of those, by its name. */
export function isViewPart(resource: Workload, name: string): boolean {
  const prefix = `${childNames(resource).base}-views-`
  return resource.kind === 'Host' && name.startsWith(prefix)
}

/** How many replicas the spec has, which keep their addresses while it is suspended; a Generator is always one. */
export function specReplicas(resource: Workload): number {
  return resource.kind === 'Generator' ? 1 : resource.spec.replicas
}

/** Their ordinals, from 0. */
export function specOrdinals(resource: Workload): number[] {
  return ordinalsBelow(specReplicas(resource))
}

/** How many pods are wanted: none while the resource is suspended. */
export function wantedReplicas(resource: Workload): number {
  return resource.spec.suspend ? 0 : specReplicas(resource)
}

/** Ordinals of the pods that are wanted, from 0. */
export function wantedOrdinals(resource: Workload): number[] {
  return ordinalsBelow(wantedReplicas(resource))
}

function ordinalsBelow(count: number): number[] {
  return Array.from({ length: count }, (_, ordinal) => ordinal)
}

/** Name of the chain that a resource is for, as every collection begins with: `Ethereum__Mainnet`. */
export function networkOf({ spec: { chain } }: Workload): string {
  return `${chain.name}__${chain.network}`
}

/** Whether a Host names Generators, so that it reads its trusted signers from a file. */
export function namesGenerators({ spec }: Host): boolean {
  return (spec.generators ?? []).length > 0
}

/** Pods below this ordinal keep their template when it changes. */
export function updatePartition(resource: Workload): number {
  return resource.kind === 'Generator' ? 0 : (resource.spec.updatePartition ?? 0)
}

export const volumes: readonly Volume[] = ['keys', 'data']
