/**
 * The steps by which an evaluated resource is brought to what its spec says; it is safe to interrupt them anywhere.
 * Only `ownStrayPods` is none of them: it comes before a resource is evaluated, since that may fail.
 */
import type { Workload } from '../api.ts'
import { applyClaims, type ClaimChange, claimChanges, type MayGrow } from './apply/apply-claims.ts'
import { applyObjects, parkSet, planObjects, removeSet } from './apply/apply-objects.ts'
import { applySecrets } from './apply/apply-secrets.ts'
import { holdKeys } from './apply/hold-keys.ts'
import { nudgeSet } from './apply/nudge-set.ts'
import { followKeyringPolicy, followPolicies } from './apply/owner-references.ts'
import { waitingChanges } from './apply/pause.ts'
import { applyPodOwners } from './apply/pod-owners.ts'
import { restartKeyless, restartToResize } from './apply/restart-pod.ts'
import type { Evaluated, ReconcileContext } from './context.ts'
import { areKeysBound, isKeyringOwned } from './evaluate/deletion-policy.ts'
import { sharedKeyProblem } from './evaluate/identity.ts'
import { startMark } from './evaluate/ignored-start.ts'
import { type ObservedState, observeState } from './evaluate/observed-state.ts'
import { podOwnerChanges } from './evaluate/pod-owners.ts'
import { evaluateResource } from './evaluation.ts'
import { generateKeys } from './fetch/keyring.ts'

/** What a step comes to: whether the next one follows, and what was found. Failures are thrown. */
interface StepResult<F> {
  readonly next: 'continue' | 'stop'
  readonly found?: Partial<Evaluated<F>>
}

type Step<R extends Workload, F> = (
  context: ReconcileContext<R, F>,
  evaluated: Evaluated<F>,
) => Promise<StepResult<F>>

/** In their order; the first that stops is the last one. */
export function stepsOf<R extends Workload, F>(): readonly Step<R, F>[] {
  return [
    registerKeys,
    ensureSecrets,
    reportPaused,
    ownPods,
    stopAtProblem,
    ensureKeys,
    ensureClaims,
    planAgain,
    ensureObjects,
    recreateSet,
    nudge,
    restartPod,
  ]
}

const proceed = { next: 'continue' } as const
const stop = { next: 'stop' } as const

/** A key that another resource has stops this one. */
async function registerKeys<R extends Workload, F>(
  context: ReconcileContext<R, F>,
  { identities, identity, inputs, state }: Evaluated<F>,
): Promise<StepResult<F>> {
  const { resource } = context
  const shared = holdKeys(context, resource, identities)
  if (identity.problem !== null) return proceed
  const isBound = areKeysBound(resource, { keyring: inputs.keyring, claims: state.allClaims })
  const problem = sharedKeyProblem(resource, identities, shared, isBound)
  return problem === null
    ? proceed
    : { ...proceed, found: { identity: { ...identity, problem }, problem } }
}

/** The Secrets that pods start with are written also where something else stops the resource. */
async function ensureSecrets<R extends Workload, F>(
  { resource, parts, memory, run }: ReconcileContext<R, F>,
  { inputs, secrets }: Evaluated<F>,
): Promise<StepResult<F>> {
  if (secrets.length === 0) return proceed
  const waiting = await applySecrets(parts, resource, { secrets, memory }, run.signal)
  return { ...proceed, found: { inputs: { ...inputs, waiting }, secrets: [] } }
}

/** While paused it is only reported what would be written. */
async function reportPaused<R extends Workload, F>(
  { resource, parts, memory, run }: ReconcileContext<R, F>,
  evaluated: Evaluated<F>,
): Promise<StepResult<F>> {
  if (!resource.spec.paused) return proceed
  const { state, inputs } = evaluated
  const { answers } = memory.objects
  const marks = { ...inputs.keyring, start: startMark(resource, state) }
  const changes = claimChanges(resource, state.allClaims, { marks, answers }, () => true)
  const paused = { ...evaluated, changes, known: memory.objects }
  const waiting = await waitingChanges(parts, resource, paused, run.signal)
  return { ...stop, found: { waiting } }
}

/**
 * Pods about to be without a StatefulSet are deleted with the resource also while something else stops it. With a
 * lost claim that comes after the StatefulSet is gone: it would make an empty claim as soon as a pod changes.
 */
async function ownPods<R extends Workload, F>(
  context: ReconcileContext<R, F>,
  evaluated: Evaluated<F>,
): Promise<StepResult<F>> {
  const { problem, state, plan } = evaluated
  if (problem?.reason === 'KeysClaimMissing' || isSetGone(state)) return proceed
  const refusal = await writePodOwners(context, state, plan.isGrowing)
  return { ...proceed, found: { refusal } }
}

/**
 * The same for pods whose StatefulSet is gone already, or goes: also where the resource cannot be evaluated. Returns
 * how that was forbidden; null where it was not.
 */
export async function ownStrayPods<R extends Workload, F>(
  context: ReconcileContext<R, F>,
): Promise<unknown> {
  const { parts, resource } = context
  const state = observeState(parts, resource)
  if (resource.spec.paused || !isSetGone(state)) return null
  return await writePodOwners(context, state, true)
}

function isSetGone({ set, isSetTerminating }: ObservedState): boolean {
  return set === null || isSetTerminating
}

async function writePodOwners<R extends Workload, F>(
  { resource, parts, run }: ReconcileContext<R, F>,
  state: ObservedState,
  areStray: boolean,
): Promise<unknown> {
  const changes = podOwnerChanges(resource, state, areStray)
  return await applyPodOwners(parts, resource, changes, run)
}

/**
 * What is stopped is left as it is, but for a StatefulSet that would make an empty claim for a lost one: that is
 * parked, and its pods get an owner. Claims and keyring still follow the deletion policy; where that changes their
 * owners, the resource is evaluated again, and its keys are registered and its Secrets written for that result.
 */
async function stopAtProblem<R extends Workload, F>(
  context: ReconcileContext<R, F>,
  evaluated: Evaluated<F>,
): Promise<StepResult<F>> {
  const { resource, parts, memory, run } = context
  const { problem, identity, owners } = evaluated
  if (problem === null && identity.lack === null) return proceed
  if (problem?.reason === 'KeysClaimMissing') {
    await parkSet(parts, resource, { ...evaluated, known: memory.objects }, run)
    await writePodOwners(context, evaluated.state, true)
  }
  if (!owners.keyring && owners.claims.length === 0) return stop
  await followPolicies(parts.api, resource, owners, run.signal)
  // The advice in the message depends on the owners.
  const again = await evaluateResource(context, null)
  const { found: shared } = await registerKeys(context, again)
  const { found } = await ensureSecrets(context, again)
  return { ...stop, found: { ...again, ...shared, ...found } }
}

/** Makes missing keys, or has the keyring Secret follow its deletion policy. */
async function ensureKeys<R extends Workload, F>(
  { resource, parts, run, fingerprints }: ReconcileContext<R, F>,
  { identity, inputs, owners }: Evaluated<F>,
): Promise<StepResult<F>> {
  const { generate: ordinals } = identity
  if (ordinals.length > 0) {
    const wanted = { exists: inputs.keyring.exists, ordinals }
    const keyring = await generateKeys(parts.api, resource, wanted, fingerprints, run.signal)
    return { ...proceed, found: { inputs: { ...inputs, keyring } } }
  }
  if (!owners.keyring) return proceed
  await followKeyringPolicy(parts.api, resource, run.signal)
  const keyring = { ...inputs.keyring, isOwned: isKeyringOwned(resource) }
  return { ...proceed, found: { inputs: { ...inputs, keyring } } }
}

async function ensureClaims<R extends Workload, F>(
  { resource, memory, parts, run }: ReconcileContext<R, F>,
  { state, inputs }: Evaluated<F>,
): Promise<StepResult<F>> {
  const { answers } = memory.objects
  const marks = { ...inputs.keyring, start: startMark(resource, state) }
  const changes = (mayGrow: MayGrow): ClaimChange[] =>
    claimChanges(resource, state.allClaims, { marks, answers }, mayGrow)
  const writes = { changes, claims: state.claims, answers }
  const refusedGrowth = await applyClaims(parts, resource, writes, run.signal)
  return { ...proceed, found: { refusedGrowth } }
}

/** Claims may just have been written, and the plan depends on them. */
async function planAgain<R extends Workload, F>(
  context: ReconcileContext<R, F>,
  { inputs }: Evaluated<F>,
): Promise<StepResult<F>> {
  const { resource, logic, parts } = context
  const state = currentState(context)
  const plan = planObjects(logic, parts, resource, { state, facts: inputs.facts })
  return { ...proceed, found: { state, plan } }
}

/** While pods have to wait neither they nor the StatefulSet would be created again, so nothing follows then. */
async function ensureObjects<R extends Workload, F>(
  { resource, memory, parts, run }: ReconcileContext<R, F>,
  { plan, state, hold }: Evaluated<F>,
): Promise<StepResult<F>> {
  const wanted = { plan, memory, state, hold: hold !== null }
  const isHeld = await applyObjects(parts, resource, wanted, run)
  return { next: hold === null ? 'continue' : 'stop', found: { isHeld } }
}

/** A StatefulSet that needs larger claim templates is removed without its pods, and created by the next reconcile. */
async function recreateSet<R extends Workload, F>(
  context: ReconcileContext<R, F>,
  evaluated: Evaluated<F>,
): Promise<StepResult<F>> {
  if (!evaluated.plan.isGrowing) return proceed
  const { resource, parts, memory, run } = context
  const { state } = evaluated
  await writePodOwners(context, state, true)
  await removeSet(parts, resource, { state, known: memory.objects }, run)
  return stop
}

/** What its controller failed to create may be possible by now. */
async function nudge<R extends Workload, F>(
  { resource, parts, run }: ReconcileContext<R, F>,
  { failedCreate, state }: Evaluated<F>,
): Promise<StepResult<F>> {
  if (failedCreate !== null) await nudgeSet(parts, resource, state, run)
  return proceed
}

async function restartPod<R extends Workload, F>(
  context: ReconcileContext<R, F>,
  { inputs: { keyring } }: Evaluated<F>,
): Promise<StepResult<F>> {
  const { resource, parts, run } = context
  const keyless = { state: currentState(context), keyring }
  const forbidden = await restartKeyless(parts, resource, keyless, run)
  if (resource.spec.storage.restartToResize) {
    await restartToResize(parts, resource, currentState(context), run)
  }
  return { ...stop, found: forbidden === null ? {} : { refusal: forbidden } }
}

function currentState<R extends Workload, F>({
  parts,
  resource,
  findings,
}: ReconcileContext<R, F>): ObservedState {
  return observeState(parts, resource, findings.unwatched)
}
