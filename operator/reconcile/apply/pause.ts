/** What would be written for a resource if it were not paused, as the API server itself says. */
import type { V1Secret } from '@kubernetes/client-node'
import type { Resource, Workload } from '../../api.ts'
import type { Drift } from '../../resources/drift/drift.ts'
import { canonicalJson } from '../../resources/names/canonical-json.ts'
import { childNames } from '../../resources/names/names.ts'
import type { ChildObject } from '../../resources/objects/child-object.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { type OwnerChanges, ownerTexts } from '../evaluate/deletion-policy.ts'
import type { IdentityPlan } from '../evaluate/identity.ts'
import { keylessPod } from '../evaluate/keyless-pod.ts'
import { podToRestart, type RestartFacts } from '../evaluate/resize-restart.ts'
import { secretDrift } from '../fetch/secrets.ts'
import { liveChild } from '../observe/cluster-view.ts'
import { type Problem, problemOf, type Statement } from '../statements/problem.ts'
import { listed } from '../statements/sentences.ts'
import { unanswered } from './answers.ts'
import type { ClaimChange } from './apply-claims.ts'
import type { ObjectPlan } from './apply-objects.ts'
import { type Difference, differencesOf } from './children.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import type { FetchedInputs, KnownObjects } from './resource-memory.ts'

export interface PausedPlan {
  readonly plan: ObjectPlan
  readonly changes: readonly ClaimChange[]
  readonly owners: OwnerChanges
  readonly identity: Pick<IdentityPlan, 'generate' | 'lack'>
  /** What stops the resource. */
  readonly problem: Problem | null
  readonly inputs: Pick<FetchedInputs<unknown>, 'waiting' | 'keyring'>
  readonly state: RestartFacts
  readonly known: KnownObjects
  /** Why the StatefulSet would not be written even then; `Ready` says it. */
  readonly hold: Statement | null
}

/** Each change in a few words; empty where nothing waits. Nothing is written. */
export async function waitingChanges<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  { plan, changes, owners, identity, problem, inputs, state, known, hold }: PausedPlan,
  signal: AbortSignal,
): Promise<string[]> {
  if (problem !== null || identity.lack !== null) {
    const removal = problem?.reason === 'KeysClaimMissing' ? setRemoval(parts, resource) : []
    return [...inputs.waiting, ...ownerTexts(resource, owners), ...removal]
  }
  const owner = ownerTexts(resource, { ...owners, claims: [] })
  const keys = identity.generate.map((ordinal) => `keyring key "${ordinal}"`)
  const claims = changes.map(({ placed }) => `PersistentVolumeClaim ${placed.claim.name}`)
  const wanted = plan.objects.filter(({ kind }) => kind !== 'StatefulSet' || hold === null)
  const found: string[] = []
  for (const difference of differencesOf(parts, resource, wanted, known)) {
    const reported = await tryDifference(parts, difference, signal)
    if (reported !== null) found.push(reported)
  }
  const recreated = plan.isGrowing ? ['StatefulSet recreated for larger volumes'] : []
  const restart = hold === null && !plan.isGrowing ? podToRestart(resource, state) : null
  const grown = restart === null ? [] : [`Pod ${restart.pod.name} recreated, to grow a file system`]
  const keyless = hold === null ? keylessPod(resource, state, inputs.keyring) : null
  const pods = keyless === null ? grown : [`Pod ${keyless.name} recreated, to have its key`]
  return [...inputs.waiting, ...keys, ...owner, ...claims, ...found, ...recreated, ...pods]
}

/** Secrets that would be written, other than the keyring; their values are compared and not kept. */
export async function waitingSecrets<R extends Workload>(
  { api }: Pick<ReconcileParts<R>, 'api'>,
  resource: R,
  { secrets, known }: { readonly secrets: readonly V1Secret[]; readonly known: KnownObjects },
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = []
  for (const secret of secrets) {
    const what = `Secret ${secret.metadata?.name}`
    try {
      const drift = await secretDrift(api, resource, secret, signal)
      if (drift === null) found.push(`${what} created`)
      else if (unanswered(known.answers, secret, drift).length > 0) found.push(`${what} changed`)
    } catch (error) {
      found.push(refusedText(what, error))
    }
  }
  return found
}

/** The one thing that is done about a lost keys claim. */
function setRemoval<R extends Workload>({ view }: ReconcileParts<R>, resource: R): string[] {
  const name = childNames(resource).base
  const set = liveChild<ChildObject>(view, resource, 'StatefulSet', name)
  return set === null ? [] : [`StatefulSet ${name} removed without its pods`]
}

/** What a difference comes to at the API server; null for nothing. */
export async function tryDifference<R extends Resource>(
  { api }: ReconcileParts<R>,
  { kind, name, drift, object, live }: Difference,
  signal: AbortSignal,
): Promise<string | null> {
  if (object === null) return `${kind} ${name} deleted`
  try {
    const result = await api.dryRunApply<KubernetesObject>(
      builtinTypes[kind],
      object as KubernetesObject,
      { signal },
    )
    // A dry run leaves what was added.
    const isAdded = drift.some(({ addition }) => addition !== null)
    if (live !== null && !isAdded && contentOf(live) === contentOf(result)) return null
    return `${kind} ${name} ${live === null ? 'created' : `changed${fieldsText(drift)}`}`
  } catch (error) {
    return refusedText(`${kind} ${name}`, error)
  }
}

/** Which fields differ, but for the records of ours, which change with them. */
function fieldsText(drift: readonly Drift[]): string {
  const fields = drift.map(({ path }) => path)
  const reported = fields.filter((field) => !field.startsWith('metadata.'))
  return reported.length === 0 ? '' : ` (${listed(reported)})`
}

/** Throws on what passes by itself. */
function refusedText(what: string, error: unknown): string {
  const problem = problemOf(error)
  if (problem === null) throw error
  return `${what}, which is refused (${problem.reason})`
}

/** What two versions of an object differ in, if in anything that counts. */
function contentOf(object: KubernetesObject | ChildObject): string {
  const { metadata, status: _, ...rest } = object as KubernetesObject & { status?: unknown }
  const { labels, annotations } = metadata ?? {}
  const { ownerReferences } = (metadata ?? {}) as { readonly ownerReferences?: unknown }
  return canonicalJson({ ...rest, metadata: { labels, annotations, ownerReferences } })
}
