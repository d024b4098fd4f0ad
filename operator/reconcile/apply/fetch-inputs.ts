/**
 * Fetches what is not watched: the keyring and other Secrets of a resource, and the Service of its execution
 * node. They are fetched when something watched calls for it, and at intervals otherwise.
 */
import type { V1Secret } from '@kubernetes/client-node'
import { requests } from '../../api/annotations.ts'
import type { Resource } from '../../api.ts'
import { canonicalJson, shortHash } from '../../resources/names/canonical-json.ts'
import { type ObservedState, observedName } from '../evaluate/observed-state.ts'
import { type FingerprintCache, readKeyring } from '../fetch/keyring.ts'
import type { KindLogic } from '../fetch/kind-logic.ts'
import { findNamedKeys } from '../fetch/named-secrets.ts'
import { ensureSecret } from '../fetch/secrets.ts'
import { recordEvent } from '../statements/record-event.ts'
import { waitingSecrets } from './pause.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import type { FetchedInputs, ResourceMemory } from './resource-memory.ts'

/** What a fetch needs to know besides the resource. */
interface FetchTools<R extends Resource, F> {
  readonly logic: KindLogic<R, F>
  readonly parts: ReconcileParts<R>
  readonly fingerprints: FingerprintCache
}

/** Inputs that were just fetched, before the Secrets that follow from them are written. */
type NewInputs<F> = Omit<FetchedInputs<F>, 'waiting' | 'atMs'>

/** The inputs from before, where they still hold; else new ones, with the Secrets to write, which are not kept. */
type Fetched<F> =
  | { readonly secrets: null; readonly inputs: FetchedInputs<F> }
  | { readonly secrets: readonly V1Secret[]; readonly inputs: NewInputs<F> }

/** Reads only; `applySecrets` has to follow where there are Secrets. */
export async function fetchInputs<R extends Resource, F>(
  { logic, parts, fingerprints }: FetchTools<R, F>,
  resource: R,
  { before, state }: { readonly before: FetchedInputs<F> | null; readonly state: ObservedState },
  signal: AbortSignal,
): Promise<Fetched<F>> {
  const { api, options, now } = parts
  const addresses = (resource.status?.nodes ?? []).flatMap((node) => node.addresses ?? [])
  const refetchKey = refetchKeyOf(resource, [addresses, logic.refetchKey?.(resource)])
  const podUIDs = podUIDsOf(state)
  const intervalMs = parts.resync.intervalMs(observedName(resource))
  const isFresh = before !== null && parts.nowMs() - before.atMs < intervalMs * 0.9
  if (isFresh && before.refetchKey === refetchKey && before.podUIDs === podUIDs) {
    return { secrets: null, inputs: before }
  }
  const keyring = await readKeyring(api, resource, fingerprints, signal)
  const { missing, values: named } = await findNamedKeys(api, resource, signal)
  const recorded = state.recordedDiscovered
  const hadPods = state.recorded !== null
  const given = { api, options, recorded, named, hadPods, addresses, now, signal }
  const { facts, secrets } = await logic.fetch(resource, given)
  return { secrets, inputs: { facts, keyring, missing, refetchKey, podUIDs } }
}

interface SecretWrites<F> {
  readonly secrets: readonly V1Secret[]
  readonly inputs: NewInputs<F>
  readonly memory: ResourceMemory<F>
}

/** Writes the Secrets, or while paused says which would be written; the inputs are remembered then. */
export async function applySecrets<R extends Resource, F>(
  parts: ReconcileParts<R>,
  resource: R,
  { secrets, inputs: fetched, memory }: SecretWrites<F>,
  signal: AbortSignal,
): Promise<FetchedInputs<F>> {
  let waiting: string[] = []
  if (resource.spec.paused) {
    waiting = await waitingSecrets(parts, resource, secrets, signal)
  } else {
    await ensureSecrets(parts, resource, { secrets, memory }, signal)
  }
  const inputs = { ...fetched, waiting, atMs: parts.nowMs() }
  memory.inputs = inputs
  return inputs
}

function refetchKeyOf({ metadata }: Resource, watched: readonly unknown[]): string {
  const requested = metadata.annotations?.[requests.reconcileAt]
  return shortHash(canonicalJson([metadata.generation, requested, watched]))
}

function podUIDsOf({ pods }: ObservedState): string {
  return JSON.stringify([...pods].map(([ordinal, { uid }]) => [ordinal, uid]))
}

/** Writes what differs, and records what others had changed or deleted. */
async function ensureSecrets<R extends Resource, F>(
  parts: ReconcileParts<R>,
  resource: R,
  { secrets, memory: { secretHashes } }: Pick<SecretWrites<F>, 'secrets' | 'memory'>,
  signal: AbortSignal,
): Promise<void> {
  for (const secret of secrets) {
    const name = secret.metadata?.name ?? ''
    const hash = shortHash(canonicalJson(secret))
    const action = await ensureSecret(parts.api, resource, secret, signal)
    if (action !== 'kept' && secretHashes.get(name) === hash) {
      const note = `Secret ${name} had been ${action === 'created' ? 'deleted' : 'changed'}.`
      recordEvent(parts, resource, { reason: 'DriftCorrected', action: 'Apply', note })
    }
    secretHashes.set(name, hash)
  }
}
