/** Writes the Secrets that pods start with, or says while paused which would be written. */
import type { V1Secret } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import { driftOf } from '../../resources/drift/drift.ts'
import { canonicalJson, shortHash } from '../../resources/names/canonical-json.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { secretDrift } from '../fetch/secrets.ts'
import { recordEvent } from '../statements/record-event.ts'
import { rememberAnswer, unanswered } from './answers.ts'
import { waitingSecrets } from './pause.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import type { ResourceMemory } from './resource-memory.ts'

type SecretMemory = Pick<ResourceMemory<unknown>, 'objects' | 'secretHashes'>

interface SecretWrites {
  readonly secrets: readonly V1Secret[]
  readonly memory: SecretMemory
}

/** Writes the Secrets, or while paused returns which would be written, each in a few words. */
export async function applySecrets<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  { secrets, memory }: SecretWrites,
  signal: AbortSignal,
): Promise<string[]> {
  if (resource.spec.paused) {
    return await waitingSecrets(parts, resource, { secrets, known: memory.objects }, signal)
  }
  for (const secret of secrets) await ensureSecret(parts, resource, { secret, memory }, signal)
  return []
}

interface SecretWrite {
  readonly secret: V1Secret
  readonly memory: SecretMemory
}

/** Writes a Secret where it is not as wanted, and records what others had changed or deleted. */
async function ensureSecret<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  { secret, memory: { objects, secretHashes } }: SecretWrite,
  signal: AbortSignal,
): Promise<void> {
  const name = secret.metadata?.name ?? ''
  const hash = shortHash(canonicalJson(secret))
  const before = await secretDrift(parts.api, resource, secret, signal)
  const isKept = before !== null && unanswered(objects.answers, secret, before).length === 0
  if (!isKept) {
    const drift = driftOf(secret, await parts.api.apply(builtinTypes.Secret, secret, { signal }))
    rememberAnswer(parts, resource, { answers: objects.answers, wanted: secret, drift })
    const isCorrected = before?.some(({ path }) => !drift.some((left) => left.path === path))
    if (secretHashes.get(name) === hash && isCorrected !== false) {
      const note = `Secret ${name} had been ${before === null ? 'deleted' : 'changed'}.`
      recordEvent(parts, resource, { reason: 'DriftCorrected', action: 'Apply', note })
    }
  }
  secretHashes.set(name, hash)
}
