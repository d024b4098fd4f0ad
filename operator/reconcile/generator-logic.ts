/** What is particular to Generators: the execution node, and the keys to their schema. */
import { randomBytes } from 'node:crypto'
import type { V1Secret } from '@kubernetes/client-node'
import type { Generator } from '../api.ts'
import { generatorConnectionSecret } from '../resources/connection-secret.ts'
import { generatorObjects } from '../resources/generator-objects.ts'
import { childNames } from '../resources/names.ts'
import { firstSchemaKey, schemaKeysKey, schemaKeysSecret } from '../resources/schema-secrets.ts'
import type { KindLogic } from './kind-logic.ts'
import { upstreamStatement } from './observed-conditions.ts'
import { readSecretValue } from './secrets.ts'
import { apartRemark, findUpstream, homelessStatement, type UpstreamFacts } from './upstream.ts'
import { wrongChainStatement } from './wrong-chain.ts'

/** What a look at what is around a Generator found. */
export type GeneratorFacts = UpstreamFacts

export const generatorLogic: KindLogic<Generator, GeneratorFacts> = {
  kind: 'Generator',
  look: async (generator, { api, recorded, addresses, options, signal }) => {
    const upstream = await findUpstream(generator, { api, recorded, signal })
    const keys = await readKeys(generator, api, signal)
    const { clusterDomain } = options
    const made = keys === null && !generator.spec.schemaAuth.keysSecretRef ? newKey() : null
    const key = firstSchemaKey(keys ?? made ?? '') ?? ''
    const secrets: V1Secret[] = [
      ...(made === null ? [] : [schemaKeysSecret(generator, [made])]),
      generatorConnectionSecret(generator, { clusterDomain, peers: addresses }, key),
    ]
    return {
      facts: upstream,
      secrets,
    }
  },
  objects: (generator, { executionNode }, context) =>
    generatorObjects(generator, { ...context, executionNode }),
  hold: (generator, facts) =>
    facts.missingService === null
      ? homelessStatement(generator, facts)
      : {
          reason: 'WaitingForUpstream',
          message: `Service ${facts.missingService} of the execution node does not exist: create it, or correct spec.upstream.`,
        },
  statements: (generator, facts, { views, lastWords }) => {
    const view = views.get(0) ?? null
    const ended = view === null ? wrongChainStatement(generator, lastWords.get(0) ?? null) : null
    const { reason, message } = ended ?? upstreamStatement(view)
    const remark = apartRemark(generator, facts)
    return { UpstreamReachable: { reason, message: [message, remark ?? []].flat().join(' ') } }
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
