/** Addresses inside the cluster: names of Services, URLs and multiaddrs made from them. */
import { ports } from '../../../src/service/contract.ts'
import type { Host, Workload } from '../../api.ts'
import { baseName, childNames, podName, specOrdinals } from './names.ts'

/** A Service's full name, which resolves without search domains. */
export function serviceHost(name: string, namespace: string, clusterDomain: string): string {
  return `${name}.${namespace}.svc.${clusterDomain}`
}

/** Where peers inside the cluster reach a Generator with this peer ID. */
export function peerAddress(resource: Workload, peerID: string, clusterDomain: string): string {
  const host = serviceHost(childNames(resource).nodes, resource.metadata.namespace, clusterDomain)
  return `/dns4/${host}/tcp/${ports.p2p}/p2p/${peerID}`
}

/** External addresses that the spec gives a replica. */
export function givenAddresses(resource: Workload, ordinal: number): readonly string[] {
  const given =
    resource.kind === 'Generator'
      ? [resource.spec.p2p.announce]
      : (resource.spec.services.p2p.announce ?? [])
  return given[ordinal] ?? []
}

/** Where a Generator of this name shows its schema. */
export function schemaOrigin(
  generator: { readonly name: string; readonly namespace: string },
  clusterDomain: string,
): string {
  const host = serviceHost(
    baseName('Generator', generator.name),
    generator.namespace,
    clusterDomain,
  )
  return `http://${host}:${ports.health}`
}

/** Where a resource's API Service answers on a port. */
export function serviceOrigin(resource: Workload, port: number, clusterDomain: string): string {
  const { base } = childNames(resource)
  return `http://${serviceHost(base, resource.metadata.namespace, clusterDomain)}:${port}`
}

/** The TCP port of a multiaddr; undefined where it has none. */
export function portOfMultiaddr(address: string): number | undefined {
  const digits = /\/tcp\/(\d+)/.exec(address)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

const schemePorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'ws:': 80,
  'wss:': 443,
}

/** The port a URL leads to. */
export function portOfUrl(url: string): number | undefined {
  if (!URL.canParse(url)) return undefined
  const { port, protocol } = new URL(url)
  return port === '' ? schemePorts[protocol] : Number(port)
}

/** Whether it begins with an IP address. */
export function hasIP(address: string): boolean {
  return /^\/ip[46]\//.test(address)
}

const privateRanges =
  /^\/(ip4\/(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.|127\.)|ip6\/(f[cd]|fe[89ab]|::1\/))/i

/**
 * Whether only private networks reach it: addresses of RFC 1918, RFC 6598, RFC 3927 and loopback, of IPv6
 * unique local (RFC 4193) and link-local.
 */
export function isPrivate(address: string): boolean {
  return privateRanges.test(address)
}

/** Multiaddrs at which peers reach a replica, external ones first; none before its ID is known. */
export function peerAddressesOf(
  resource: Workload,
  { ordinal, peerID, external, clusterDomain }: NodeAddressFacts,
): string[] {
  if (peerID === null) return []
  const inside = replicaAddress(resource, ordinal, clusterDomain)
  return [...new Set([...external, inside])].map((address) => `${address}/p2p/${peerID}`)
}

/** Where peers inside the cluster reach a replica, without its peer ID. */
function replicaAddress(resource: Workload, ordinal: number, clusterDomain: string): string {
  const { nodes } = childNames(resource)
  const host = serviceHost(nodes, resource.metadata.namespace, clusterDomain)
  return `/dns4/${podName(resource, ordinal)}.${host}/tcp/${ports.p2p}`
}

/** Where the replicas of a Host reach each other; none while there is one, or for those whose peer IDs are not known. */
export function siblingAddresses(
  host: Host,
  peerIDs: ReadonlyMap<number, string>,
  clusterDomain: string,
): string[] {
  const ordinals = specOrdinals(host)
  if (ordinals.length < 2) return []
  return ordinals.flatMap((ordinal) => {
    const peerID = peerIDs.get(ordinal)
    return peerID === undefined
      ? []
      : [`${replicaAddress(host, ordinal, clusterDomain)}/p2p/${peerID}`]
  })
}

interface NodeAddressFacts {
  readonly ordinal: number
  readonly peerID: string | null
  readonly external: readonly string[]
  readonly clusterDomain: string
}

/** Of one replica: addresses of the spec before those that were discovered, each once. */
export function externalAddresses(
  resource: Workload,
  ordinal: number,
  discovered: readonly (readonly string[])[],
): string[] {
  return [...new Set([...givenAddresses(resource, ordinal), ...(discovered[ordinal] ?? [])])]
}
