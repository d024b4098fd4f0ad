/**
 * Which of a Generator's schema keys its Hosts and applications are handed. A new key waits for a while after it was
 * found: the Generator sees it only when Kubernetes has brought it to its pod. The one before is accepted meanwhile
 * and for long enough after that for everybody to see the new one.
 */
import { records } from '../../api/annotations.ts'
import type { Generator } from '../../api.ts'
import { childNames } from '../../resources/names/names.ts'
import { secretValue } from '../../resources/names/secret.ts'
import { type HandedKey, handedSchemaKey } from '../../resources/secrets/connection-secret.ts'
import { listedSchemaKeys } from '../../resources/secrets/schema-secrets.ts'
import { timeOf } from '../../runtime/client/micro-time.ts'
import { ownership } from '../statements/ownership.ts'
import type { FetchParts } from './kind-logic.ts'
import { readSecret } from './secrets.ts'

/** What Kubernetes takes for it, two minutes, and a pod that has to be replaced. */
const waitMs = 300_000

/** A wait that began longer ago was one of other keys, or of an operator that ended. */
const longestWaitMs = 86_400_000

const nothing: HandedKey = { key: '', waits: null }

/** What the connection Secret hands out now; nothing also where it may not be read. */
export async function findHandedKey(
  generator: Generator,
  { api, signal }: Pick<FetchParts, 'api' | 'signal'>,
): Promise<HandedKey> {
  const { namespace } = generator.metadata
  const name = childNames(generator).connection
  const secret = await readSecret(api, { namespace, name }, signal)
  if (secret === null || ownership(generator, secret) !== 'ours') return nothing
  const waits = secret.metadata?.annotations?.[records.schemaKeyWaits] ?? null
  return { key: secretValue(secret, handedSchemaKey) ?? '', waits }
}

/** What is to be handed out of these keys; the connection Secret is read where that depends on it. */
export async function findNextHandedKey(
  generator: Generator,
  keys: string,
  parts: Pick<FetchParts, 'api' | 'now' | 'signal'>,
): Promise<HandedKey> {
  const [first = '', ...others] = listedSchemaKeys(keys)
  if (others.length === 0) return { key: first, waits: null }
  return nextHandedKey(keys, await findHandedKey(generator, parts), parts.now())
}

/**
 * What is to be handed out: the first of these keys, once it has waited where another one of them was handed out
 * before. One that is not among them was taken out, or written into the connection Secret by others.
 */
export function nextHandedKey(keys: string, before: HandedKey, now: Date): HandedKey {
  const listed = listedSchemaKeys(keys)
  const [first = ''] = listed
  const done = { key: first, waits: before.waits === null ? null : '' }
  if (first === before.key || !listed.includes(before.key)) return done
  const waitedMs = now.getTime() - (timeOf(before.waits ?? undefined) ?? 0)
  if (waitedMs < 0 || waitedMs > longestWaitMs) return { key: before.key, waits: now.toISOString() }
  return waitedMs < waitMs ? before : done
}
