/**
 * The ConfigMap with addresses and signers: peers to connect to, each replica's own outside addresses, and whose
 * word counts. Running pods read it again when it changes, so a new address restarts nobody.
 */
import type { V1ConfigMap } from '@kubernetes/client-node'
import type { GeneratorSigner } from '../api/status.ts'
import type { Generator, Host, Resource } from '../api.ts'
import { givenAddresses } from './addresses.ts'
import type { BuildContext, HostContext } from './context.ts'
import { childMetadata } from './metadata.ts'
import { childNames, namesGenerators, wantedOrdinals } from './names.ts'
import { announceKey, bootstrapPeersKey, trustedSignersKey } from './paths.ts'

/** A Generator's: its own addresses. */
export function generatorConfigMap(
  generator: Generator,
  { announce }: Pick<BuildContext, 'announce'>,
): V1ConfigMap {
  return configMap(generator, ownAddresses(generator, announce))
}

/** A Host's: its peers, those of the spec before those that were learnt, its signers, its own addresses. */
export function hostConfigMap(
  host: Host,
  { announce, peers, signers }: Pick<HostContext, 'announce' | 'peers' | 'signers'>,
): V1ConfigMap {
  const all = [...(host.spec.bootstrapPeers ?? []), ...peers]
  return configMap(host, {
    [bootstrapPeersKey]: lines(all),
    ...(namesGenerators(host) ? { [trustedSignersKey]: signerLines(signers) } : {}),
    ...ownAddresses(host, announce),
  })
}

/** Programs skip lines that begin with #. */
function signerLines(signers: readonly GeneratorSigner[]): string {
  return signers.map(({ generator, identity }) => `# ${generator}\n${identity}\n`).join('')
}

/** By key: those of the spec before those that were learnt. */
function ownAddresses(
  resource: Resource,
  learnt: readonly (readonly string[])[],
): Record<string, string> {
  const entries = wantedOrdinals(resource).map((ordinal) => [
    announceKey(ordinal),
    lines([...givenAddresses(resource, ordinal), ...(learnt[ordinal] ?? [])]),
  ])
  return Object.fromEntries(entries)
}

function configMap(resource: Resource, data: Record<string, string>): V1ConfigMap {
  const metadata = childMetadata(resource, childNames(resource).config)
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
}

/** One address a line, each once. */
function lines(addresses: readonly string[]): string {
  return [...new Set(addresses)].map((address) => `${address}\n`).join('')
}
