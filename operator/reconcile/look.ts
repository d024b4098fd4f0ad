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
import { findNamedKeys } from './named-secrets.ts'
import { waitingSecrets } from './pause.ts'
import { observedName, type Picture } from './picture.ts'
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
    const occasion = occasionOf(picture)
    const intervalMs = parts.pace.intervalMs(observedName(resource))
    const isFresh = before !== null && parts.nowMs() - before.atMs < intervalMs * 0.9
    if (isFresh && before.question === question && before.occasion === occasion) return before

    const keyring = await readKeyring(api, resource, fingerprints, signal)
    const { missing, values: named } = await findNamedKeys(api, resource, signal)
    const recorded = picture.recordedLearnt
    const { facts, secrets } = await logic.look(resource, {
      api,
      options,
      recorded,
      named,
      hadPods: picture.recorded !== null,
      addresses,
      now: parts.now,
      signal,
    })
    let waiting: string[] = []
    if (resource.spec.paused) {
      waiting = await waitingSecrets(parts, resource, secrets, signal)
    } else {
      await ensureAll(parts, resource, { secrets, memory }, signal)
    }
    const looked = { facts, keyring, missing, waiting, atMs: parts.nowMs(), question, occasion }
    memory.looked = looked
    return looked
  }
}

function questionOf({ metadata }: Resource, watched: readonly unknown[]): string {
  const asked = metadata.annotations?.[requests.reconcileAt]
  return shortHash(canonicalJson([metadata.generation, asked, watched]))
}

function occasionOf({ pods }: Picture): string {
  return JSON.stringify([...pods].map(([ordinal, { uid }]) => [ordinal, uid]))
}

interface Wish<F> {
  readonly secrets: readonly V1Secret[]
  readonly memory: ResourceMemory<F>
}

/** Writes what differs, and tells what somebody else had changed or deleted. */
async function ensureAll<R extends Resource, F>(
  parts: ReconcileParts<R>,
  resource: R,
  { secrets, memory: { secretWishes } }: Wish<F>,
  signal: AbortSignal,
): Promise<void> {
  for (const secret of secrets) {
    const name = secret.metadata?.name ?? ''
    const wish = shortHash(canonicalJson(secret))
    const action = await ensureSecret(parts.api, resource, secret, signal)
    if (action !== 'kept' && secretWishes.get(name) === wish) {
      const note = `Secret ${name} had been ${action === 'created' ? 'deleted' : 'changed'}.`
      recordEvent(parts, resource, { reason: 'DriftCorrected', action: 'Apply', note })
    }
    secretWishes.set(name, wish)
  }
}
