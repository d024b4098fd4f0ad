/**
 * The ConfigMap with addresses and signers: peers to connect to, the replicas of a Host, each replica's own external addresses, and the
 * trusted signers. Running pods read it again when it changes, so a new address restarts no pod.
 */
import type { V1ConfigMap } from '@kubernetes/client-node'
import type { GeneratorSigner } from '../../api/status.ts'
import type { Generator, Host, Workload } from '../../api.ts'
import { givenAddresses, siblingAddresses } from '../names/addresses.ts'
import { childMetadata } from '../names/metadata.ts'
import { childNames, namesGenerators, specOrdinals } from '../names/names.ts'
import { announceKey, bootstrapPeersKey, siblingsKey, trustedSignersKey } from '../names/paths.ts'
import type { BuildContext, HostContext } from '../pod/context.ts'

/** A Generator's: its own addresses. */
export function generatorConfigMap(
  generator: Generator,
  { announce }: Pick<BuildContext, 'announce'>,
): V1ConfigMap {
  return configMap(generator, ownAddresses(generator, announce))
}

type HostAddresses = Pick<
  HostContext,
  'announce' | 'peers' | 'signers' | 'peerIDs' | 'clusterDomain'
>

/** A Host's: its peers, those of the spec before those that were discovered, its replicas, its signers, its own addresses. */
export function hostConfigMap(
  host: Host,
  { announce, peers, signers, peerIDs, clusterDomain }: HostAddresses,
): V1ConfigMap {
  const all = [...(host.spec.bootstrapPeers ?? []), ...peers]
  return configMap(host, {
    [bootstrapPeersKey]: lines(all),
    [siblingsKey]: lines(siblingAddresses(host, peerIDs, clusterDomain)),
    ...(namesGenerators(host) ? { [trustedSignersKey]: signerLines(signers) } : {}),
    ...ownAddresses(host, announce),
  })
}

/** Programs skip lines that begin with #. */
function signerLines(signers: readonly GeneratorSigner[]): string {
  return signers.map(({ generator, identity }) => `# ${generator}\n${identity}\n`).join('')
}

/** By key: those of the spec before those that were discovered. */
function ownAddresses(
  resource: Workload,
  discovered: readonly (readonly string[])[],
): Record<string, string> {
  const entries = specOrdinals(resource).map((ordinal) => [
    announceKey(ordinal),
    lines([...givenAddresses(resource, ordinal), ...(discovered[ordinal] ?? [])]),
  ])
  return Object.fromEntries(entries)
}

function configMap(resource: Workload, data: Record<string, string>): V1ConfigMap {
  const metadata = childMetadata(resource, childNames(resource).config)
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
}

/** One address a line, each once. */
function lines(addresses: readonly string[]): string {
  return [...new Set(addresses)].map((address) => `${address}\n`).join('')
}
