/** The Generator that a Host has its schema from, and the key to it. */
import type { GeneratorReference } from '../../api/common-spec.ts'
import type { Host } from '../../api.ts'
import { childNames } from '../../resources/names/names.ts'
import { handedSchemaKey } from '../../resources/secrets/connection-secret.ts'
import { listedSchemaKeys, schemaKeysKey } from '../../resources/secrets/schema-secrets.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { timeOf } from '../../runtime/client/micro-time.ts'
import type { Statement } from '../statements/problem.ts'
import { type Referred, schemaGenerator } from './generator-peers.ts'
import type { FetchParts } from './kind-logic.ts'
import { readSecretValue } from './secrets.ts'

/** What is known of where a Host has its schema from. */
export interface SchemaFacts {
  readonly schemaSource: Required<GeneratorReference> | null
  /** A Generator that would let this Host have a key, and has none itself yet. */
  readonly keyless: Required<GeneratorReference> | null
  /** Generators are named, and none lets this namespace have a key. */
  readonly isRefused: boolean
  /** The Generator for whose key the first pods wait; null where they wait for none, or no longer. */
  readonly awaited: Required<GeneratorReference> | null
}

export interface GeneratorSchema {
  readonly facts: SchemaFacts
  /** The key itself. */
  readonly token: string | null
  /** Whether a key that was handed out is no longer allowed. */
  readonly isTakenBack: boolean
}

/**
 * How long a new Host waits for a key before it starts without one. Generators that are made together with it
 * have theirs within seconds, and pods that start without it are replaced when there is one.
 */
const keyWaitMs = 30_000

/** Finds the Generator, and asks for its key. */
export async function findSchemaSource(
  host: Host,
  all: readonly Referred[],
  { api, recorded: { schemaSource: current }, hadPods, now, signal }: FetchParts,
): Promise<GeneratorSchema> {
  const source = schemaGenerator(host, all, current)
  const reference = source?.reference ?? null
  const token = source === null ? null : await readToken(source, api, signal)
  const isUsable = token !== null || isSame(reference, current)
  const keyless = isUsable ? null : reference
  const expected = source === null ? absentGenerator(all) : keyless
  return {
    facts: {
      schemaSource: isUsable ? reference : null,
      keyless,
      isRefused: source === null && all.some(({ generator }) => generator !== null),
      awaited: !hadPods && isYoung(host, now()) ? expected : null,
    },
    token,
    isTakenBack: current !== null && source === null,
  }
}

/** Why the first pods wait. */
export function awaitedStatement({
  namespace,
  name,
}: Required<GeneratorReference>): Statement<'Pending'> {
  const message = `The first pods wait for Generator ${namespace}/${name} to have a schema key, ${keyWaitMs / 1_000} seconds at most; without it they start with the embedded schema, and are replaced when there is one.`
  return { reason: 'Pending', message }
}

/**
 * The key that a Generator's Hosts are handed; null while there is none. The connection Secret says which, as long as
 * it is one of the keys: what others write there is handed to nobody.
 */
async function readToken(
  { reference, generator }: Referred,
  api: KubernetesApi,
  signal: AbortSignal,
): Promise<string | null> {
  if (generator === null) return null
  const { namespace } = reference
  const { schemaKeys, connection } = childNames(generator)
  const given = generator.spec.schemaAuth.keysSecretRef ?? { name: schemaKeys, key: schemaKeysKey }
  const keys = listedSchemaKeys((await readSecretValue(api, { namespace, ...given }, signal)) ?? '')
  const [first = null] = keys
  if (keys.length < 2) return first
  const place = { namespace, name: connection, key: handedSchemaKey }
  const handed = await readSecretValue(api, place, signal)
  return handed !== null && keys.includes(handed) ? handed : first
}

function isSame(
  a: Required<GeneratorReference> | null,
  b: Required<GeneratorReference> | null,
): boolean {
  return a?.name === b?.name && a?.namespace === b?.namespace
}

/** Where clocks differ it is so for twice the time at most. */
function isYoung({ metadata: { creationTimestamp } }: Host, now: Date): boolean {
  const madeMs = timeOf(creationTimestamp)
  return madeMs !== null && Math.abs(now.getTime() - madeMs) < keyWaitMs
}

/** One that may be made in a moment: it is not there, and would be seen. */
function absentGenerator(all: readonly Referred[]): Required<GeneratorReference> | null {
  const absent = all.find(({ generator, isWatched }) => generator === null && isWatched)
  return absent?.reference ?? null
}
