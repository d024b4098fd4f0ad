/**
 * The keys to a Generator's schema. Those of older versions read them when they start, so a Secret of generated keys
 * that is gone is recreated together with the pod. The key that was handed out before is in it as well for an hour,
 * so that nobody is refused who has not seen the new one.
 */
import { randomBytes } from 'node:crypto'
import type { V1Secret } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Generator } from '../../api.ts'
import { childNames } from '../../resources/names/names.ts'
import { secretValue } from '../../resources/names/secret.ts'
import type { HandedKey } from '../../resources/secrets/connection-secret.ts'
import {
  formerSchemaKey,
  listedSchemaKeys,
  schemaKeysKey,
  schemaKeysSecret,
} from '../../resources/secrets/schema-secrets.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { timeOf } from '../../runtime/client/micro-time.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { FetchParts } from './kind-logic.ts'
import { schemaKeysField } from './named-secrets.ts'
import { findHandedKey, findNextHandedKey } from './schema-handover.ts'

/** The keys that a Generator takes, and what has to be done for it to have some. */
export interface GeneratorKeys {
  /** With commas between several; empty where there are none yet. */
  readonly keys: string
  /** The Secret that has to be made, while paused without a key; null where there is one. */
  readonly made: V1Secret | null
  /** When generated keys were last renewed; null for never. */
  readonly renewed: string | null
  /** What Hosts and applications are handed. */
  readonly handed: HandedKey
}

/** What the keys are found with. */
export type SchemaKeysParts = Pick<
  FetchParts,
  'api' | 'recorded' | 'named' | 'hadPods' | 'now' | 'signal'
>

type FoundKeys = Omit<GeneratorKeys, 'handed'>

/** How long a key from before is accepted. */
const formerMs = 3_600_000

/**
 * Finds the keys; where generated ones are missing, they are generated, and not written yet. While paused
 * none is generated: it is only reported that one would be.
 */
export async function findSchemaKeys(
  generator: Generator,
  parts: SchemaKeysParts,
): Promise<GeneratorKeys> {
  const isGenerated = generator.spec.schemaAuth.keysSecretRef === undefined
  const found: FoundKeys = isGenerated
    ? await findGenerated(generator, parts)
    : { keys: parts.named.get(schemaKeysField) ?? '', made: null, renewed: null }
  return { ...found, handed: await findNextHandedKey(generator, found.keys, parts) }
}

async function findGenerated(generator: Generator, parts: SchemaKeysParts): Promise<FoundKeys> {
  const secret = await findOwn(generator, parts)
  const keys = secret === null ? undefined : secretValue(secret, schemaKeysKey)
  if (secret !== null && keys !== undefined) {
    const said = secret.metadata?.annotations?.[records.schemaKeysRenewed]
    const renewed = said ?? parts.recorded.schemaKeysRenewed
    return { keys, made: withoutFormer(generator, secret, { renewed, now: parts.now() }), renewed }
  }
  const renewed = parts.hadPods ? parts.now().toISOString() : null
  if (generator.spec.paused) {
    return { keys: '', made: schemaKeysSecret(generator, { keys: [''], renewed }), renewed }
  }
  const key = randomBytes(32).toString('base64url')
  const { key: handed } = await findHandedKey(generator, parts)
  const former = handed === '' ? undefined : handed
  const all = former === undefined ? [key] : [key, former]
  const made = schemaKeysSecret(generator, { keys: all, renewed, former })
  return { keys: all.join(','), made, renewed }
}

/** The Secret without the key from before, once its time is over; null while it is not, and where there is none. */
function withoutFormer(
  generator: Generator,
  secret: V1Secret,
  { renewed, now }: { readonly renewed: string | null; readonly now: Date },
): V1Secret | null {
  const former = secretValue(secret, formerSchemaKey)
  const keys = listedSchemaKeys(secretValue(secret, schemaKeysKey) ?? '')
  const left = keys.filter((key) => key !== former)
  if (generator.spec.paused || left.length === 0 || left.length === keys.length) return null
  const sinceMs = timeOf(renewed ?? undefined) ?? 0
  const agedMs = now.getTime() - sinceMs
  return agedMs < formerMs ? null : schemaKeysSecret(generator, { keys: left, renewed })
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
