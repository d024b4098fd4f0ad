/** What is particular to Generators: the execution node, and the keys to their schema. */
import type { Generator } from '../api.ts'
import { generatorObjects } from '../resources/generator-objects.ts'
import { generatorConnectionSecret } from '../resources/secrets/connection-secret.ts'
import type { KindLogic } from './fetch/kind-logic.ts'
import { findSchemaKeys } from './fetch/schema-keys.ts'
import {
  apartRemark,
  findUpstream,
  homelessStatement,
  type UpstreamFacts,
} from './fetch/upstream.ts'
import { upstreamStatement } from './status/observed-conditions.ts'
import { wrongChainStatement } from './status/pod-advice.ts'

/** What was fetched of the surroundings of a Generator. */
export interface GeneratorFacts extends UpstreamFacts {
  /** When generated schema keys were last renewed; null for never. */
  readonly schemaKeysRenewed: string | null
}

export const generatorLogic: KindLogic<Generator, GeneratorFacts> = {
  kind: 'Generator',
  fetch: async (generator, parts) => {
    const upstream = await findUpstream(generator, parts)
    const { made, renewed, handed } = await findSchemaKeys(generator, parts)
    const { clusterDomain } = parts.options
    const connection = { clusterDomain, peers: parts.addresses }
    return {
      facts: { ...upstream, schemaKeysRenewed: renewed },
      secrets: [
        ...(made === null ? [] : [made]),
        generatorConnectionSecret(generator, connection, handed),
      ],
    }
  },
  objects: (generator, { executionNode, schemaKeysRenewed }, context) =>
    generatorObjects(generator, { ...context, executionNode, schemaKeysRenewed }),
  hold: (generator, facts) =>
    facts.missingService === null
      ? homelessStatement(generator, facts)
      : {
          reason: 'WaitingForUpstream',
          message: `Service ${facts.missingService} of the execution node does not exist: create it, or correct spec.upstream.`,
        },
  chainIDs: () => new Map(),
  statements: (generator, facts, { views, terminationMessages }) => {
    const view = views.get(0) ?? null
    const ended =
      view === null ? wrongChainStatement(generator, terminationMessages.get(0) ?? null) : null
    const statement = ended ?? upstreamStatement(view)
    const remark = apartRemark(generator, facts)
    if (remark === null) return { UpstreamReachable: statement }
    return { UpstreamReachable: { ...statement, message: `${statement.message} ${remark}` } }
  },
}
