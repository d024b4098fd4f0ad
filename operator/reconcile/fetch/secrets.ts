/**
 * Secrets that are made for a resource, beside the keyring. Secrets are neither listed nor watched, so
 * each is read before it is written; nothing of them is kept.
 */
import type { V1Secret } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'
import type { Workload } from '../../api.ts'
import { type Drift, driftOf } from '../../resources/drift/drift.ts'
import { secretValue } from '../../resources/names/secret.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { ownership } from '../statements/ownership.ts'

/** Where a Secret is. */
interface SecretPlace {
  readonly namespace: string
  readonly name: string
}

/** A Secret; null where it is missing, or may not be read. */
export async function readSecret(
  api: KubernetesApi,
  { namespace, name }: SecretPlace,
  signal: AbortSignal,
): Promise<V1Secret | null> {
  try {
    return await api.find<V1Secret>({ type: builtinTypes.Secret, namespace, name }, { signal })
  } catch (error) {
    if (hasCode(error, 'OPERATOR_API_FORBIDDEN')) return null
    throw error
  }
}

/** A value of a Secret; null where the Secret or the key is missing, or may not be read. */
export async function readSecretValue(
  api: KubernetesApi,
  { key, ...place }: SecretPlace & { readonly key: string },
  signal: AbortSignal,
): Promise<string | null> {
  const secret = await readSecret(api, place, signal)
  return (secret && secretValue(secret, key)) ?? null
}

/** Where a Secret is not as wanted; null where there is none. Throws where the name belongs to something else. */
export async function secretDrift(
  api: KubernetesApi,
  resource: Workload,
  wanted: V1Secret,
  signal: AbortSignal,
): Promise<Drift[] | null> {
  const { name = '', namespace } = wanted.metadata ?? {}
  const live = await api.find<V1Secret>({ type: builtinTypes.Secret, namespace, name }, { signal })
  if (live === null) return null
  const state = ownership(resource, live)
  if (state === 'terminating') throw terminatingError('Secret', name)
  if (state === 'foreign') throw nameTakenError('Secret', name)
  return driftOf(wanted, live)
}

/** The object of an earlier resource of this name, which Kubernetes is about to delete. */
export function terminatingError(
  kind: string,
  name: string,
  remedy = 'Nothing: Kubernetes deletes it.',
): ServiceError {
  return new ServiceError(
    'OPERATOR_TERMINATING',
    `${kind} ${name} of a deleted resource is still there`,
    {
      facts: { kind, name },
      remedy,
    },
  )
}

export function nameTakenError(kind: string, name: string): ServiceError {
  return new ServiceError('OPERATOR_NAME_TAKEN', `${kind} ${name} belongs to something else`, {
    facts: { kind, name },
    remedy: `Delete or rename ${kind} ${name}, or create the resource under another name.`,
  })
}
