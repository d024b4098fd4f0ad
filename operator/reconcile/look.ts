/**
 * Looks at what is not watched: the keyring and other Secrets of a resource, and the Service of its
 * execution node. Looks are made when the question changes, and now and then otherwise.
 */
import type { V1Secret } from '@kubernetes/client-node'
import { requests } from '../api/annotations.ts'
import type { Resource } from '../api.ts'
import { canonicalJson, shortHash } from '../resources/canonical-json.ts'
import { type FingerprintCache, readKeyring } from './keyring.ts'
import type { KindLogic } from './kind-logic.ts'
import { missingKeys } from './named-secrets.ts'
import { waitingSecrets } from './pause.ts'
import type { Picture } from './picture.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import { recordEvent } from './record-event.ts'
import type { Looked, ResourceMemory } from './resource-memory.ts'
import { ensureSecret } from './secrets.ts'

export type Look<R extends Resource, F> = (
  resource: R,
  memory: ResourceMemory<F>,
  picture: Picture,
  signal: AbortSignal,
) => Promise<Looked<F>>

/** The look of one kind. While a resource is paused it writes nothing. */
export function createLook<R extends Resource, F>(
  logic: KindLogic<R, F>,
  parts: ReconcileParts<R>,
  fingerprints: FingerprintCache,
): Look<R, F> {
  const { api, options } = parts
  return async (resource, memory, picture, signal) => {
    const addresses = (resource.status?.nodes ?? []).flatMap((node) => node.addresses ?? [])
    const question = questionOf(resource, [addresses, logic.moves?.(resource)])
    const before = memory.looked
    const isFresh = before !== null && parts.nowMs() - before.atMs < parts.lookIntervalMs() * 0.9
    if (isFresh && before.question === question) return before

    const keyring = await readKeyring(api, resource, fingerprints, signal)
    const missing = await missingKeys(api, resource, signal)
    const recorded = picture.recordedLearnt
    const { facts, secrets } = await logic.look(resource, {
      api,
      options,
      recorded,
      addresses,
      signal,
    })
    let waiting: string[] = []
    if (resource.spec.paused) {
      waiting = await waitingSecrets(parts, resource, secrets, signal)
    } else {
      const changed = await ensureAll(parts, resource, secrets, signal)
      if (before?.question === question) tellChanged(parts, resource, changed)
    }
    const looked = { facts, keyring, missing, waiting, atMs: parts.nowMs(), question }
    memory.looked = looked
    return looked
  }
}

function questionOf({ metadata }: Resource, watched: readonly unknown[]): string {
  const asked = metadata.annotations?.[requests.reconcileAt]
  return shortHash(canonicalJson([metadata.generation, asked, watched]))
}

/** Names of Secrets that were there and had to be written. */
async function ensureAll<R extends Resource>(
  { api }: ReconcileParts<R>,
  resource: R,
  secrets: readonly V1Secret[],
  signal: AbortSignal,
): Promise<string[]> {
  const changed: string[] = []
  for (const secret of secrets) {
    const outcome = await ensureSecret(api, resource, secret, signal)
    if (outcome === 'changed') changed.push(secret.metadata?.name ?? '')
  }
  return changed
}

/** With the same question the same is wanted, so somebody else had changed them. */
function tellChanged<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  names: readonly string[],
): void {
  for (const name of names) {
    const note = `Secret ${name} had been changed.`
    recordEvent(parts, resource, { reason: 'DriftCorrected', action: 'Apply', note })
  }
}
