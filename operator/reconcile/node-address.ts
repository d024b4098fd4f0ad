/** Addresses of one replica, from the outside and within the cluster. */
import { ports } from '../../src/service/contract.ts'
import type { Resource } from '../api.ts'
import { givenAddresses, serviceHost } from '../resources/addresses.ts'
import { childNames } from '../resources/names.ts'

/** Multiaddrs at which peers reach a replica, those of the outside first; none before its ID is known. */
export function peerAddressesOf(
  resource: Resource,
  { ordinal, peerID, outside, clusterDomain }: NodeAddressFacts,
): string[] {
  if (peerID === null) return []
  const { base, nodes } = childNames(resource)
  const host = serviceHost(nodes, resource.metadata.namespace, clusterDomain)
  const inside = `/dns4/${base}-${ordinal}.${host}/tcp/${ports.p2p}`
  return [...new Set([...outside, inside])].map((address) => `${address}/p2p/${peerID}`)
}

export interface NodeAddressFacts {
  readonly ordinal: number
  readonly peerID: string | null
  readonly outside: readonly string[]
  readonly clusterDomain: string
}

/** Of one replica: addresses of the spec before those that were learnt, each once. */
export function outsideAddresses(
  resource: Resource,
  ordinal: number,
  learnt: readonly (readonly string[])[],
): string[] {
  return [...new Set([...givenAddresses(resource, ordinal), ...(learnt[ordinal] ?? [])])]
}
