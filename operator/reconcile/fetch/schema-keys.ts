/**
 * The keys to a Generator's schema. It reads them when it starts, so a Secret of generated keys that is
 * gone is recreated together with the pod: otherwise Hosts would be given a key that it does not accept.
 */
import { randomBytes } from 'node:crypto'
import type { V1Secret } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Generator } from '../../api.ts'
import { childNames } from '../../resources/names/names.ts'
import { secretValue } from '../../resources/names/secret.ts'
import { schemaKeysKey, schemaKeysSecret } from '../../resources/secrets/schema-secrets.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { FetchParts } from './kind-logic.ts'
import { schemaKeysField } from './named-secrets.ts'

/** The keys that a Generator takes, and what has to be done for it to have some. */
export interface SchemaKeys {
  /** With commas between several; empty where there are none yet. */
  readonly keys: string
  /** The Secret that has to be made, while paused without a key; null where there is one. */
  readonly made: V1Secret | null
  /** When generated keys were last renewed; null for never. */
  readonly renewed: string | null
}

/** What the keys are found with. */
export type SchemaKeysParts = Pick<
  FetchParts,
  'api' | 'recorded' | 'named' | 'hadPods' | 'now' | 'signal'
>

/**
 * Finds the keys; where generated ones are missing, they are generated, and not written yet. While paused
 * none is generated: it is only reported that one would be.
 */
export async function findSchemaKeys(
  generator: Generator,
  parts: SchemaKeysParts,
): Promise<SchemaKeys> {
  if (generator.spec.schemaAuth.keysSecretRef !== undefined) {
    return { keys: parts.named.get(schemaKeysField) ?? '', made: null, renewed: null }
  }
  const secret = await findOwn(generator, parts)
  const keys = secret === null ? undefined : secretValue(secret, schemaKeysKey)
  if (keys !== undefined) {
    const said = secret?.metadata?.annotations?.[records.schemaKeysRenewed]
    return { keys, made: null, renewed: said ?? parts.recorded.schemaKeysRenewed }
  }
  const key = generator.spec.paused ? '' : randomBytes(32).toString('base64url')
  const renewed = parts.hadPods ? parts.now().toISOString() : null
  return { keys: key, made: schemaKeysSecret(generator, [key], renewed), renewed }
}

/** Null also where it may not be read; to write it is then refused as well. */
async function findOwn(
  generator: Generator,
  { api, signal }: SchemaKeysParts,
): Promise<V1Secret | null> {
  const { namespace } = generator.metadata
  const name = childNames(generator).schemaKeys
  try {
    return await api.find<V1Secret>({ type: builtinTypes.Secret, namespace, name }, { signal })
  } catch (error) {
    if (hasCode(error, 'OPERATOR_API_FORBIDDEN')) return null
    throw error
  }
}
