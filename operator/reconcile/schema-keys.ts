/**
 * The keys to a Generator's schema. It reads them when it starts, so a Secret of generated keys that is
 * gone is made anew together with the pod: otherwise Hosts would be handed a key that it does not take.
 */
import { randomBytes } from 'node:crypto'
import type { V1Secret } from '@kubernetes/client-node'
import { records } from '../api/annotations.ts'
import type { Generator } from '../api.ts'
import { childNames } from '../resources/names.ts'
import { schemaKeysKey, schemaKeysSecret } from '../resources/schema-secrets.ts'
import { secretValue } from '../resources/secret.ts'
import { hasCode } from '../runtime/api-error.ts'
import { builtinTypes } from '../runtime/resource-type.ts'
import type { LookParts } from './kind-logic.ts'
import { schemaKeysField } from './named-secrets.ts'

/** The keys that a Generator takes, and what has to be done for it to have some. */
export interface SchemaKeys {
  /** With commas between several; empty where there are none yet. */
  readonly keys: string
  /** The Secret that has to be made, while paused without a key; null where there is one. */
  readonly made: V1Secret | null
  /** When generated keys were last made anew; null for never. */
  readonly renewed: string | null
}

/** What of a look the keys are found with. */
export type KeysLook = Pick<LookParts, 'api' | 'recorded' | 'named' | 'hadPods' | 'now' | 'signal'>

/**
 * Looks for the keys; where generated ones are missing, they are made, and not written yet. While paused
 * none is made: that one would be is all that is told then.
 */
export async function findSchemaKeys(generator: Generator, parts: KeysLook): Promise<SchemaKeys> {
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
async function findOwn(generator: Generator, { api, signal }: KeysLook): Promise<V1Secret | null> {
  const { namespace } = generator.metadata
  const name = childNames(generator).schemaKeys
  try {
    return await api.find<V1Secret>({ type: builtinTypes.Secret, namespace, name }, { signal })
  } catch (error) {
    if (hasCode(error, 'OPERATOR_API_FORBIDDEN')) return null
    throw error
  }
}
