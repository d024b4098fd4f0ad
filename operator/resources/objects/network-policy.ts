/**
 * The NetworkPolicy of a resource's pods.
 *
 * | In | From |
 * |---|---|
 * | 9171, peers | anywhere |
 * | 9181 and 9182, API and playground | pods of this cluster; anywhere where its Service goes outside |
 * | 8080, health, metrics, schema | pods of this cluster |
 * | 9183, health alone, of a Host | pods of this cluster; anywhere where P2P Services show it outside |
 *
 * | Out | To |
 * |---|---|
 * | 53, DNS | anywhere |
 * | peers | anywhere, on 9171 and on the ports of the addresses |
 * | 8080, a Generator's schema | pods of the Generators a Host refers to; anywhere where one is in the network of its machine |
 * | the execution node | its pods where they are known and in the network of pods, else anywhere |
 * | the registry chain | anywhere, on the ports of its addresses |
 *
 * Probes come from the machine that runs the pod, which policies always let in.
 */
import type {
  V1NetworkPolicy,
  V1NetworkPolicyEgressRule,
  V1NetworkPolicyIngressRule,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
  V1NetworkPolicySpec,
} from '@kubernetes/client-node'
import { ports } from '../../../src/service/contract.ts'
import { labels } from '../../api/annotations.ts'
import type { Generator, Host, Workload } from '../../api.ts'
import { portOfMultiaddr, portOfUrl } from '../names/addresses.ts'
import { childMetadata, selectorLabels } from '../names/metadata.ts'
import { childNames } from '../names/names.ts'
import type { GeneratorContext, HostContext } from '../pod/context.ts'

/** The client's type calls this field `_from`. */
type IngressRule = Omit<V1NetworkPolicyIngressRule, '_from'> & {
  from?: V1NetworkPolicyPeer[]
}

/** A NetworkPolicy as the API server reads it. */
export type NetworkPolicy = Omit<V1NetworkPolicy, 'spec'> & {
  spec: Omit<V1NetworkPolicySpec, 'ingress'> & { ingress: IngressRule[] }
}

const namespaceName = 'kubernetes.io/metadata.name'
const anyPod: V1NetworkPolicyPeer = { namespaceSelector: {} }
const dns: V1NetworkPolicyEgressRule = {
  ports: [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ],
}

/** Null where the spec wants none. */
export function generatorNetworkPolicy(
  generator: Generator,
  { executionNode }: Pick<GeneratorContext, 'executionNode'>,
): NetworkPolicy | null {
  const toNode: V1NetworkPolicyEgressRule =
    executionNode === null || executionNode.isHostNetwork === true
      ? { ports: [{ protocol: 'TCP' }] }
      : {
          ports: [{ protocol: 'TCP' }],
          to: [podsIn(executionNode.namespace, executionNode.labels)],
        }
  return networkPolicy(generator, [dns, { ports: tcp([ports.p2p]) }, toNode])
}

/** Null where the spec wants none; `publicHealth` are the ports of its pods where everybody may ask for health. */
export function hostNetworkPolicy(
  host: Host,
  { peers, hasHostNetworkSource }: Pick<HostContext, 'peers' | 'hasHostNetworkSource'>,
  publicHealth: readonly number[],
): NetworkPolicy | null {
  const { bootstrapPeers = [], generators = [], registry } = host.spec
  const peerPorts = [...bootstrapPeers, ...peers].map(portOfMultiaddr)
  const registryPorts = [registry.rpcUrl, registry.lcdUrl].map((url) => url && portOfUrl(url))
  const schemas = generators.map(({ name, namespace = host.metadata.namespace }) =>
    podsIn(namespace, { [labels.name]: 'generator', [labels.instance]: name }),
  )
  const toSchemas: V1NetworkPolicyEgressRule = {
    ports: tcp([ports.health]),
    ...(hasHostNetworkSource === true ? {} : { to: schemas }),
  }
  const egress = [
    dns,
    { ports: tcp([ports.p2p, ...peerPorts]) },
    ...(schemas.length > 0 ? [toSchemas] : []),
    ...(registry.rpcUrl || registry.lcdUrl ? [{ ports: tcp(registryPorts) }] : []),
  ]
  const shown = isHealthExternal(host) ? publicHealth : []
  return networkPolicy(host, egress, { external: shown, inside: [ports.health, ...publicHealth] })
}

/** Whether health may be checked from outside the cluster through a P2P Service. */
function isHealthExternal(host: Host): boolean {
  const { type, publicHealth } = host.spec.services.p2p
  return publicHealth && type !== 'None' && type !== 'ClusterIP'
}

function networkPolicy(
  resource: Workload,
  egress: V1NetworkPolicyEgressRule[],
  health: HealthPorts = { external: [], inside: [ports.health] },
): NetworkPolicy | null {
  if (!resource.spec.networkPolicy.enabled) return null
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: childMetadata(resource, childNames(resource).base),
    spec: {
      podSelector: { matchLabels: selectorLabels(resource) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: ingressRules(resource, health),
      egress,
    },
  }
}

/** Ports at which everybody, and pods of this cluster, may ask for health. */
interface HealthPorts {
  readonly external: readonly number[]
  readonly inside: readonly number[]
}

function ingressRules(resource: Workload, { external, inside }: HealthPorts): IngressRule[] {
  const isApiPublic = resource.kind === 'Host' && resource.spec.services.api.type !== 'ClusterIP'
  const api = resource.kind === 'Host' ? [ports.api, ports.playground] : [ports.api]
  return [
    { ports: tcp([ports.p2p, ...external]) },
    ingressRule(api, isApiPublic),
    ingressRule(inside, false),
  ]
}

function ingressRule(numbers: readonly number[], isPublic: boolean): IngressRule {
  return { ports: tcp(numbers), ...(isPublic ? {} : { from: [anyPod] }) }
}

/** Each port once, in order. */
function tcp(numbers: readonly (number | string | undefined)[]): V1NetworkPolicyPort[] {
  const known = numbers.filter((number) => typeof number === 'number')
  return [...new Set(known)].toSorted((a, b) => a - b).map((port) => ({ protocol: 'TCP', port }))
}

function podsIn(
  namespace: string,
  matchLabels: Readonly<Record<string, string>>,
): V1NetworkPolicyPeer {
  return {
    namespaceSelector: { matchLabels: { [namespaceName]: namespace } },
    podSelector: { matchLabels: { ...matchLabels } },
  }
}
