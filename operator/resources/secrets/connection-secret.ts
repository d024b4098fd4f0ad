/**
 * The Secret with everything an application has to know to connect: mounted or read as environment, it
 * spares writing down names of Services.
 */
import type { V1Secret } from '@kubernetes/client-node'
import { paths, ports } from '../../../src/service/contract.ts'
import { records } from '../../api/annotations.ts'
import type { Generator, Host, Workload } from '../../api.ts'
import { serviceHost, serviceOrigin } from '../names/addresses.ts'
import { childMetadata } from '../names/metadata.ts'
import { childNames, networkOf } from '../names/names.ts'
import { opaqueSecret } from '../names/secret.ts'

/** Key of a Generator's Secret: the schema key that its Hosts and applications are handed. */
export const handedSchemaKey = 'schema-key'

interface ConnectionFacts {
  readonly clusterDomain: string
  /** Addresses of all replicas, as multiaddrs that end in peer IDs; external ones first. */
  readonly peers: readonly string[]
}

/** How to reach a Host: GraphQL, the playground, peers. */
export function hostConnectionSecret(host: Host, facts: ConnectionFacts): V1Secret {
  const origin = (port: number): string => serviceOrigin(host, port, facts.clusterDomain)
  return connectionSecret(host, {
    ...commonValues(host, facts),
    'graphql-url': `${origin(ports.api)}${paths.graphql}`,
    'playground-url': origin(ports.playground),
    'health-url': `${origin(ports.health)}${paths.health}`,
  })
}

/** The schema key that is handed out. */
export interface HandedKey {
  /** Empty for none. */
  readonly key: string
  /** Since when a newer one waits; empty where it waits no more, null where none has. */
  readonly waits: string | null
}

/** How to reach a Generator: its schema with a key to it, peers. */
export function generatorConnectionSecret(
  generator: Generator,
  facts: ConnectionFacts,
  { key, waits }: HandedKey,
): V1Secret {
  const origin = (port: number): string => serviceOrigin(generator, port, facts.clusterDomain)
  const annotations = waits === null ? {} : { [records.schemaKeyWaits]: waits }
  const values = {
    ...commonValues(generator, facts),
    'graphql-url': `${origin(ports.api)}${paths.graphql}`,
    'health-url': `${origin(ports.health)}${paths.health}`,
    'schema-url': `${origin(ports.health)}${paths.schema}`,
    [handedSchemaKey]: key,
  }
  return connectionSecret(generator, values, annotations)
}

function commonValues(
  resource: Workload,
  { clusterDomain, peers }: ConnectionFacts,
): Record<string, string> {
  return {
    host: serviceHost(childNames(resource).base, resource.metadata.namespace, clusterDomain),
    port: String(ports.api),
    network: networkOf(resource),
    peers: peers.map((peer) => `${peer}\n`).join(''),
  }
}

function connectionSecret(
  resource: Workload,
  values: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>> = {},
): V1Secret {
  const metadata = childMetadata(resource, childNames(resource).connection, { annotations })
  return opaqueSecret(metadata, values)
}
