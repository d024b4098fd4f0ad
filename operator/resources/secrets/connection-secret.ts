/**
 * The Secret with everything an application has to know to connect: mounted or read as environment, it
 * spares writing down names of Services.
 */
import type { V1Secret } from '@kubernetes/client-node'
import { paths, ports } from '../../../src/service/contract.ts'
import type { Generator, Host, Resource } from '../../api.ts'
import { serviceHost, serviceOrigin } from '../names/addresses.ts'
import { childMetadata } from '../names/metadata.ts'
import { childNames, networkOf } from '../names/names.ts'
import { opaqueSecret } from '../names/secret.ts'

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

/** How to reach a Generator: its schema with a key to it, peers. */
export function generatorConnectionSecret(
  generator: Generator,
  facts: ConnectionFacts,
  schemaKey: string,
): V1Secret {
  const origin = (port: number): string => serviceOrigin(generator, port, facts.clusterDomain)
  return connectionSecret(generator, {
    ...commonValues(generator, facts),
    'graphql-url': `${origin(ports.api)}${paths.graphql}`,
    'health-url': `${origin(ports.health)}${paths.health}`,
    'schema-url': `${origin(ports.health)}${paths.schema}`,
    'schema-key': schemaKey,
  })
}

function commonValues(
  resource: Resource,
  { clusterDomain, peers }: ConnectionFacts,
): Record<string, string> {
  return {
    host: serviceHost(childNames(resource).base, resource.metadata.namespace, clusterDomain),
    port: String(ports.api),
    network: networkOf(resource),
    peers: peers.map((peer) => `${peer}\n`).join(''),
  }
}

function connectionSecret(resource: Resource, values: Record<string, string>): V1Secret {
  return opaqueSecret(childMetadata(resource, childNames(resource).connection), values)
}
