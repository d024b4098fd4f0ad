/** Secrets that a spec names beside the keyring: whether each is there, with the key that is named. */
import type { V1Secret } from '@kubernetes/client-node'
import type { SecretKeyReference } from '../../api/common-spec.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Condition } from '../../api/status.ts'
import type { Workload } from '../../api.ts'
import { secretValue } from '../../resources/names/secret.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { WantedCondition } from '../../runtime/status-writer.ts'
import type { Statement } from '../statements/problem.ts'

/** A key of a Secret, and the field of the spec that names it. */
interface NamedKey extends SecretKeyReference {
  readonly field: string
}

/** The field of a Generator that names schema keys of the user's own. */
export const schemaKeysField = 'spec.schemaAuth.keysSecretRef'

/** A named key that is not there. */
export interface MissingKey extends NamedKey {
  /** Whether the Secret is there, and lacks just this key. */
  readonly hasSecret: boolean
}

/** Keys without which the pods of a resource cannot start. */
function namedKeys({ kind, spec }: Workload): NamedKey[] {
  if (kind === 'Host') {
    return named('spec.registry.adminTokenSecretRef', spec.registry.adminTokenSecretRef)
  }
  return [
    ...named('spec.upstream.auth.secretRef', spec.upstream.auth?.secretRef),
    ...named(schemaKeysField, spec.schemaAuth.keysSecretRef),
  ]
}

function named(field: string, reference: SecretKeyReference | undefined): NamedKey[] {
  return reference === undefined ? [] : [{ field, name: reference.name, key: reference.key }]
}

/** What was found of the named keys. */
interface FoundKeys {
  /** What may not be read is taken to be there. */
  readonly missing: readonly MissingKey[]
  /** Values by field, of those that are there and not empty; only for as long as the fetch takes. */
  readonly values: ReadonlyMap<string, string>
}

/** Reads the Secret of each named key. */
export async function findNamedKeys(
  api: KubernetesApi,
  resource: Workload,
  signal: AbortSignal,
): Promise<FoundKeys> {
  const { namespace } = resource.metadata
  const missing: MissingKey[] = []
  const values = new Map<string, string>()
  for (const wanted of namedKeys(resource)) {
    const address = { type: builtinTypes.Secret, namespace, name: wanted.name }
    try {
      const secret = await api.find<V1Secret>(address, { signal })
      const value = secret === null ? undefined : secretValue(secret, wanted.key)
      if (value !== undefined) values.set(wanted.field, value)
      if (secret?.data?.[wanted.key] !== undefined) continue
      missing.push({ ...wanted, hasSecret: secret !== null })
    } catch (error) {
      if (!hasCode(error, 'OPERATOR_API_FORBIDDEN')) throw error
    }
  }
  return { missing, values }
}

/** Why no new pod can start; null where nothing is missing. */
export function missingSecretStatement(
  { metadata: { namespace } }: Workload,
  missing: readonly MissingKey[],
): Statement<'SecretMissing'> | null {
  if (missing.length === 0) return null
  const reported = missing.map((one) => missingText(namespace, one)).join(' ')
  return {
    reason: 'SecretMissing',
    message: `No new pod can start; what runs is left alone. ${reported}`,
  }
}

/** What is said of pods that are ready, and of the Secret that those after them would lack. */
export function withMissingSecret(
  ready: Statement<ReasonOf<'Ready'>>,
  hold: Statement<ReasonOf<'Ready'>> | null,
): Statement<ReasonOf<'Ready'>> {
  if (hold?.reason !== 'SecretMissing') return ready
  return { ...ready, message: `${ready.message} ${hold.message}` }
}

/** The note of an Event where the message above has just become so; null otherwise. */
export function newlyMissingNote(
  before: readonly Pick<Condition, 'type' | 'message'>[],
  after: readonly Pick<WantedCondition, 'type' | 'message' | 'status'>[],
  hold: Statement<ReasonOf<'Ready'>> | null,
): string | null {
  if (hold?.reason !== 'SecretMissing') return null
  const isReported = ({ type, message }: Pick<Condition, 'type' | 'message'>): boolean =>
    type === 'Ready' && message.includes(hold.message)
  const isNew =
    after.some((one) => one.status === 'True' && isReported(one)) && !before.some(isReported)
  return isNew ? hold.message : null
}

/** With commands in quotes of their own, into which the secret need not be written. */
function missingText(namespace: string, { field, name, key, hasSecret }: MissingKey): string {
  const place = `${name} --namespace ${namespace}`
  return hasSecret
    ? `Secret ${name} of ${field} lacks the key ${key}: write \`stringData: {"${key}": VALUE}\` into a FILE and run \`kubectl patch secret ${place} --patch-file FILE\`.`
    : `Secret ${name} of ${field} does not exist: run \`kubectl create secret generic ${place} --from-file=${key}=FILE\`.`
}
