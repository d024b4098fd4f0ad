/**
 * Decides whether a NetworkPolicy lets a connection through, as
 * https://kubernetes.io/docs/concepts/services-networking/network-policies/ describes it. Where no
 * engine enforces policies, this is what shows that ours say what they should.
 */
import type { V1LabelSelector, V1NetworkPolicyPeer } from '@kubernetes/client-node'
import type { NetworkPolicy } from '../../../operator/resources/objects/network-policy.ts'

/** The other end of a connection. */
export type Endpoint =
  | {
      readonly kind: 'pod'
      readonly namespace: string
      readonly labels: Readonly<Record<string, string>>
    }
  /** An address outside the cluster. */
  | { readonly kind: 'outside' }
  /** The machine that runs the pod; it always gets in. */
  | { readonly kind: 'machine' }

export interface Connection {
  readonly direction: 'in' | 'out'
  readonly other: Endpoint
  readonly port: number
  readonly protocol?: 'TCP' | 'UDP'
}

/** True where the policy lets a pod that it selects have this connection. */
export function lets(policy: NetworkPolicy, connection: Connection): boolean {
  const { direction, other } = connection
  if (direction === 'in' && other.kind === 'machine') return true
  return rulesOf(policy, direction).some(
    ({ ports, peers }) =>
      (ports.length === 0 || ports.some((port) => isPort(port, connection))) &&
      (peers.length === 0 || peers.some((peer) => isPeer(peer, other, policy))),
  )
}
/** An empty list is about all there are, like one that is left out. */
interface Rule {
  readonly ports: readonly PolicyPort[]
  readonly peers: readonly V1NetworkPolicyPeer[]
}

interface PolicyPort {
  readonly port?: number | string
  readonly protocol?: string
}

function rulesOf({ spec }: NetworkPolicy, direction: 'in' | 'out'): Rule[] {
  return direction === 'in'
    ? spec.ingress.map(({ ports = [], from: peers = [] }) => ({ ports, peers }))
    : (spec.egress ?? []).map(({ ports = [], to: peers = [] }) => ({ ports, peers }))
}

/** A rule without a port is about all ports of its protocol. */
function isPort(rule: PolicyPort, { port, protocol = 'TCP' }: Connection): boolean {
  return (rule.protocol ?? 'TCP') === protocol && (rule.port === undefined || rule.port === port)
}

function isPeer(peer: V1NetworkPolicyPeer, other: Endpoint, policy: NetworkPolicy): boolean {
  if (other.kind !== 'pod') return false
  const { namespaceSelector, podSelector } = peer
  const isNamespace =
    namespaceSelector === undefined
      ? other.namespace === policy.metadata?.namespace
      : selects(namespaceSelector, { 'kubernetes.io/metadata.name': other.namespace })
  return isNamespace && (podSelector === undefined || selects(podSelector, other.labels))
}

function selects(selector: V1LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector.matchLabels ?? {}).every(([name, value]) => labels[name] === value)
}
