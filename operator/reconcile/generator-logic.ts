/** What is particular to Generators: the execution node, and the keys to their schema. */
import { randomBytes } from 'node:crypto'
import type { V1Secret, V1Service } from '@kubernetes/client-node'
import type { Generator } from '../api.ts'
import { generatorConnectionSecret } from '../resources/connection-secret.ts'
import type { ExecutionNode } from '../resources/context.ts'
import { generatorObjects } from '../resources/generator-objects.ts'
import { childNames } from '../resources/names.ts'
import { firstSchemaKey, schemaKeysKey, schemaKeysSecret } from '../resources/schema-secrets.ts'
import { builtinTypes } from '../runtime/resource-type.ts'
import type { KindLogic } from './kind-logic.ts'
import { upstreamStatement } from './observed-conditions.ts'
import { readSecretValue } from './secrets.ts'
import { executionNodeOf, homelessStatement, upstreamAddress } from './upstream.ts'
import { wrongChainStatement } from './wrong-chain.ts'

export interface GeneratorFacts {
  readonly executionNode: ExecutionNode | null
  /** `namespace/name` of the Service that is to be the upstream and does not exist. */
  readonly missingService: string | null
}

export const generatorLogic: KindLogic<Generator, GeneratorFacts> = {
  kind: 'Generator',
  look: async (generator, { api, recorded, addresses, options, signal }) => {
    const address = upstreamAddress(generator)
    const service =
      address === null
        ? null
        : await api.find<V1Service>({ type: builtinTypes.Service, ...address }, { signal })
    const isMissing = address !== null && service === null
    const keys = await readKeys(generator, api, signal)
    const { clusterDomain } = options
    const made = keys === null && !generator.spec.schemaAuth.keysSecretRef ? newKey() : null
    const key = firstSchemaKey(keys ?? made ?? '') ?? ''
    const secrets: V1Secret[] = [
      ...(made === null ? [] : [schemaKeysSecret(generator, [made])]),
      generatorConnectionSecret(generator, { clusterDomain, peers: addresses }, key),
    ]
    return {
      facts: {
        executionNode: executionNodeOf(generator, service, recorded.executionNode),
        missingService: isMissing ? `${address.namespace}/${address.name}` : null,
      },
      secrets,
    }
  },
  objects: (generator, { executionNode }, context) =>
    generatorObjects(generator, { ...context, executionNode }),
  hold: (generator, { missingService, executionNode }) =>
    missingService === null
      ? homelessStatement(generator, executionNode)
      : {
          reason: 'WaitingForUpstream',
          message: `Service ${missingService} of the execution node does not exist: create it, or correct spec.upstream.`,
        },
  statements: (generator, _facts, { views, lastWords }) => {
    const view = views.get(0) ?? null
    const ended = view === null ? wrongChainStatement(generator, lastWords.get(0) ?? null) : null
    return { UpstreamReachable: ended ?? upstreamStatement(view) }
  },
}

async function readKeys(
  generator: Generator,
  api: Parameters<typeof readSecretValue>[0],
  signal: AbortSignal,
): Promise<string | null> {
  const { namespace } = generator.metadata
  const own = { name: childNames(generator).schemaKeys, key: schemaKeysKey }
  const reference = generator.spec.schemaAuth.keysSecretRef ?? own
  return await readSecretValue(api, { namespace, ...reference }, signal)
}

function newKey(): string {
  return randomBytes(32).toString('base64url')
}
