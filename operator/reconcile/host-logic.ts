/** What is particular to Hosts: the Generators they refer to, as peers and for their schema. */
import type { V1Secret } from '@kubernetes/client-node'
import type { Generator, Host } from '../api.ts'
import { hostObjects } from '../resources/host-objects.ts'
import type { PlacedViews } from '../resources/pod/placed-views.ts'
import { hostConnectionSecret } from '../resources/secrets/connection-secret.ts'
import { schemaTokenSecret } from '../resources/secrets/schema-secrets.ts'
import { hostSigners } from './evaluate/host-signers.ts'
import { signersStatement } from './evaluate/signers-statement.ts'
import {
  chainIDsOf,
  foreignGenerators,
  genesisOf,
  peerIDOf,
  peersOf,
  type Referred,
  referredGenerators,
  unreadyReason,
  wasReconciled,
} from './fetch/generator-peers.ts'
import type { KindLogic } from './fetch/kind-logic.ts'
import {
  awaitedStatement,
  findSchemaSource,
  type GeneratorSchema,
  type SchemaFacts,
} from './fetch/schema-source.ts'
import type { Informer } from './observe/informer.ts'
import { peersStatement, schemaStatement } from './status/observed-conditions.ts'

/** What a Host has to do with Views. */
interface ViewParts {
  /** Where those that select it lie. */
  readonly placed: (host: Host) => PlacedViews
  /** IDs that its replicas are asked for. */
  readonly asked: (host: Host) => readonly string[]
}

export function createHostLogic(
  generators: Informer<Generator>,
  views: ViewParts,
): KindLogic<Host, SchemaFacts> {
  const referred = (host: Host): Referred[] =>
    referredGenerators(
      host,
      (namespace, name) => generators.get(namespace, name)?.value ?? null,
      (namespace) => generators.reflectorOf(namespace) !== undefined,
    )
  return {
    kind: 'Host',
    fetch: async (host, parts) => {
      const schema = await findSchemaSource(host, referred(host), parts)
      const { clusterDomain } = parts.options
      const connection = { clusterDomain, peers: parts.addresses }
      return {
        facts: schema.facts,
        secrets: [...tokenSecret(host, schema), hostConnectionSecret(host, connection)],
      }
    },
    objects: (host, { schemaSource }, context) => {
      const all = referred(host)
      const { accepted: signers, peers: allowed } = hostSigners(host, all)
      const peers = peersOf(allowed, context.clusterDomain)
      const hasHostNetworkSource = all.some(isInHostNetwork)
      return hostObjects(host, {
        ...context,
        ...{ peers, signers, schemaSource, hasHostNetworkSource },
        views: views.placed(host),
      })
    },
    hold: (_, { awaited }) => (awaited === null ? null : awaitedStatement(awaited)),
    statements: (host, facts, { views: reports }) => {
      const all = referred(host)
      const signers = hostSigners(host, all)
      const { changed } = signers
      return {
        PeersConnected: peersStatement(host, { referred: all, changed, views: reports }),
        SignersAgree: signersStatement(host, { signers, referred: all, views: reports }),
        SchemaInSync: schemaStatement(host, { ...facts, referred: all, views: reports }),
      }
    },
    remembered: (host) => {
      const { remembered: signers } = hostSigners(host, referred(host))
      return signers.length === 0 ? {} : { signers }
    },
    chainIDs: (host) => {
      const all = referred(host)
      const foreign = foreignGenerators(host, all)
      return chainIDsOf(all.filter((one) => !foreign.includes(one)))
    },
    alsoRead: (host) =>
      referred(host).flatMap(({ reference }) => generators.reflectorOf(reference.namespace) ?? []),
    refetchKey: (host) =>
      JSON.stringify([peersOf(referred(host), ''), allowances(host, referred(host))]),
    views: views.asked,
    occasion: (host) =>
      JSON.stringify(
        referred(host).map((one) => [peerIDOf(one), unreadyReason(one), genesisOf(one)]),
      ),
  }
}

function isInHostNetwork({ generator }: Referred): boolean {
  return generator?.spec.podTemplate?.spec?.hostNetwork === true
}

/** A key that was handed out and is no longer allowed is taken back. */
function tokenSecret(host: Host, { token, isTakenBack }: GeneratorSchema): V1Secret[] {
  if (token !== null) return [schemaTokenSecret(host, token)]
  return isTakenBack ? [schemaTokenSecret(host, '')] : []
}

/** Changes when a Generator comes, goes, has its first keys, or changes whom it allows. */
function allowances(host: Host, all: readonly Referred[]): unknown {
  return all.map(({ generator }) => [
    generator?.metadata.uid,
    generator !== null && wasReconciled(generator),
    generator?.spec.schemaAuth.allowedNamespaces?.includes(host.metadata.namespace) ?? false,
    generator?.spec.schemaAuth.keysSecretRef,
  ])
}
