/** What is particular to Hosts: the Generators they refer to, as peers and for their schema. */
import type { V1Secret } from '@kubernetes/client-node'
import type { GeneratorReference } from '../api/common-spec.ts'
import type { Generator, Host } from '../api.ts'
import { hostConnectionSecret } from '../resources/connection-secret.ts'
import { hostObjects } from '../resources/host-objects.ts'
import { childNames } from '../resources/names.ts'
import { firstSchemaKey, schemaKeysKey, schemaTokenSecret } from '../resources/schema-secrets.ts'
import type { KubernetesApi } from '../runtime/api.ts'
import { peersOf, type Referred, referredGenerators, schemaGenerator } from './generator-peers.ts'
import type { KindLogic } from './kind-logic.ts'
import type { Mirror } from './mirror.ts'
import { peersStatement, schemaStatement } from './observed-conditions.ts'
import { readSecretValue } from './secrets.ts'

export interface HostFacts {
  readonly schemaSource: Required<GeneratorReference> | null
  /** A Generator that would let this Host have a key, and has none itself yet. */
  readonly keyless: Required<GeneratorReference> | null
  /** Generators are named, and none lets this namespace have a key. */
  readonly isRefused: boolean
}

export function createHostLogic(generators: Mirror<Generator>): KindLogic<Host, HostFacts> {
  const referred = (host: Host): Referred[] =>
    referredGenerators(
      host,
      (namespace, name) => generators.get(namespace, name)?.value ?? null,
      generators.watches,
    )
  return {
    kind: 'Host',
    look: async (host, { api, recorded, addresses, options, signal }) => {
      const all = referred(host)
      const source = schemaGenerator(host, all, recorded.schemaSource)
      const token = source === null ? null : await readToken(source, api, signal)
      const isCurrent = isSame(source?.reference ?? null, recorded.schemaSource)
      const isUsable = token !== null || isCurrent
      const reference = source?.reference ?? null
      const { clusterDomain } = options
      return {
        facts: {
          schemaSource: isUsable ? reference : null,
          keyless: isUsable ? null : reference,
          isRefused: source === null && all.some(({ generator }) => generator !== null),
        },
        secrets: [
          ...tokenSecret(host, token, recorded.schemaSource !== null && source === null),
          hostConnectionSecret(host, { clusterDomain, peers: addresses }),
        ],
      }
    },
    objects: (host, { schemaSource }, context) => {
      const all = referred(host)
      const peers = peersOf(all, context.clusterDomain)
      const hasHostNetworkSource = all.some(isInHostNetwork)
      return hostObjects(host, { ...context, peers, schemaSource, hasHostNetworkSource })
    },
    hold: () => null,
    statements: (host, facts, { views }) => ({
      PeersConnected: peersStatement(host, { referred: referred(host), views }),
      SchemaInSync: schemaStatement(host, { ...facts, referred: referred(host), views }),
    }),
    moves: (host) =>
      JSON.stringify([peersOf(referred(host), ''), allowances(host, referred(host))]),
  }
}

function isInHostNetwork({ generator }: Referred): boolean {
  return generator?.spec.podTemplate?.spec?.hostNetwork === true
}

/** A key that was handed out and is no longer allowed is taken back. */
function tokenSecret(host: Host, token: string | null, isTakenBack: boolean): V1Secret[] {
  if (token !== null) return [schemaTokenSecret(host, token)]
  return isTakenBack ? [schemaTokenSecret(host, '')] : []
}

/** The key that a Generator's Hosts are handed; null while there is none. */
async function readToken(
  { reference, generator }: Referred,
  api: KubernetesApi,
  signal: AbortSignal,
): Promise<string | null> {
  if (generator === null) return null
  const own = { name: childNames(generator).schemaKeys, key: schemaKeysKey }
  const { namespace } = reference
  const given = generator.spec.schemaAuth.keysSecretRef ?? own
  const keys = await readSecretValue(api, { namespace, ...given }, signal)
  return firstSchemaKey(keys ?? '') ?? null
}

function isSame(
  a: Required<GeneratorReference> | null,
  b: Required<GeneratorReference> | null,
): boolean {
  return a?.name === b?.name && a?.namespace === b?.namespace
}

/** Changes when a Generator comes, goes, or changes whom it allows. */
function allowances(host: Host, all: readonly Referred[]): unknown {
  return all.map(({ generator }) => [
    generator?.metadata.uid ?? null,
    generator?.spec.schemaAuth.allowedNamespaces?.includes(host.metadata.namespace) ?? false,
    generator?.spec.schemaAuth.keysSecretRef ?? null,
  ])
}
