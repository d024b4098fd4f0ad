/**
 * Fetches what is not watched: the keyring and other Secrets of a resource, and the Service of its execution
 * node. They are fetched when something watched calls for it, and at intervals otherwise.
 */
import type { V1Secret } from '@kubernetes/client-node'
import { requests } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import { canonicalJson, shortHash } from '../../resources/names/canonical-json.ts'
import type { ObservedState } from '../evaluate/observed-state.ts'
import { type FingerprintCache, readKeyring } from '../fetch/keyring.ts'
import type { KindLogic } from '../fetch/kind-logic.ts'
import { findNamedKeys } from '../fetch/named-secrets.ts'
import { observedName } from '../observe/observed-name.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import type { FetchedInputs } from './resource-memory.ts'

/** What a fetch needs to know besides the resource. */
interface FetchTools<R extends Workload, F> {
  readonly logic: KindLogic<R, F>
  readonly parts: ReconcileParts<R>
  readonly fingerprints: FingerprintCache
}

/** The inputs, and the Secrets to write, which are not kept: none where the inputs from before still hold. */
interface Fetched<F> {
  readonly inputs: FetchedInputs<F>
  readonly secrets: readonly V1Secret[]
}

/** Reads only; `applySecrets` has to follow. */
export async function fetchInputs<R extends Workload, F>(
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
    return { inputs: before, secrets: [] }
  }
  const keyring = await readKeyring(api, resource, fingerprints, signal)
  const { missing, values: named } = await findNamedKeys(api, resource, signal)
  const recorded = state.recordedDiscovered
  const hadPods = state.recorded !== null
  const given = { api, options, recorded, named, hadPods, addresses, now, signal }
  const { facts, secrets } = await logic.fetch(resource, given)
  const atMs = parts.nowMs()
  const inputs = { facts, keyring, missing, waiting: [], atMs, refetchKey, podUIDs }
  return { inputs, secrets }
}

function refetchKeyOf({ metadata }: Workload, watched: readonly unknown[]): string {
  const requested = metadata.annotations?.[requests.reconcileAt]
  return shortHash(canonicalJson([metadata.generation, requested, watched]))
}

function podUIDsOf({ pods }: ObservedState): string {
  return JSON.stringify([...pods].map(([ordinal, { uid }]) => [ordinal, uid]))
}
