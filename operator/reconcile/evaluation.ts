/**
 * Evaluates a resource: reads what is watched, fetches what is not, and says what follows from both. The Secrets
 * that pods start with are the only thing that is written before.
 */
import type { Resource } from '../api.ts'
import { wantedReplicas } from '../resources/names/names.ts'
import { keyOf } from '../runtime/client/resource-type.ts'
import { planObjects } from './apply/apply-objects.ts'
import { applySecrets } from './apply/apply-secrets.ts'
import { fetchInputs } from './apply/fetch-inputs.ts'
import type { FetchedInputs } from './apply/resource-memory.ts'
import type { Evaluated, ReconcileContext } from './context.ts'
import { areKeysBound, ownerChanges } from './evaluate/deletion-policy.ts'
import { planIdentity, sharedKeyProblem } from './evaluate/identity.ts'
import { identitiesOf, type ObservedState, observeState } from './evaluate/observed-state.ts'
import { chainProblem } from './evaluate/storage.ts'
import { expectNoTerminatingClaims } from './evaluate/terminating-claims.ts'
import { possiblyUnused } from './evaluate/unused-claims.ts'
import { findFailedCreate } from './fetch/failed-create.ts'
import { logHolders, type SharedKey } from './fetch/key-holders.ts'
import { missingSecretStatement } from './fetch/named-secrets.ts'
import { findUnused } from './fetch/unused-claims.ts'
import { findUnwatchedClaims } from './fetch/unwatched-claims.ts'
import type { ReplicaIdentity } from './observe/claim.ts'

/** Throws OPERATOR_LEAVING where something of a deleted resource of the same name is still there. */
export async function evaluateResource<R extends Resource, F>(
  context: ReconcileContext<R, F>,
): Promise<Evaluated<F>> {
  const { resource, holders } = context
  const { namespace, name } = resource.metadata
  const watched = observeState(context.parts, resource)
  const inputs = await currentInputs(context, watched)
  const state = await withUnwatchedClaims(context, watched, inputs)
  const failedCreate = await findFailedCreate(
    context.parts.api,
    resource,
    state,
    context.run.signal,
  )
  context.findings = { ...context.findings, failedCreate }
  expectNoTerminatingClaims(resource, state)
  const candidates = possiblyUnused(resource, state.claims, inputs.keyring)
  const unused = await findUnused(context.parts.api, resource, candidates, context.run.signal)
  const identities = identitiesOf(resource, state, inputs.keyring, unused)
  const shared = holders.hold(keyOf(namespace, name), keysOf(identities))
  logHolders(context.memory, shared, context.run.log)
  return evaluate(context, { state, inputs, identities, shared })
}

/** The inputs as they were fetched last, or fetched now, with the Secrets written that follow from them. */
async function currentInputs<R extends Resource, F>(
  { logic, parts, fingerprints, resource, memory, run }: ReconcileContext<R, F>,
  state: ObservedState,
): Promise<FetchedInputs<F>> {
  const tools = { logic, parts, fingerprints }
  const fetched = await fetchInputs(tools, resource, { before: memory.inputs, state }, run.signal)
  if (fetched.secrets === null) return fetched.inputs
  return await applySecrets(parts, resource, { memory, ...fetched }, run.signal)
}

/** The state with the claims that are there and not watched. */
async function withUnwatchedClaims<R extends Resource, F>(
  context: ReconcileContext<R, F>,
  seen: ObservedState,
  { keyring }: FetchedInputs<F>,
): Promise<ObservedState> {
  const { resource, parts, run } = context
  const replicas = identitiesOf(resource, seen, keyring)
  const unwatched = await findUnwatchedClaims(parts.api, resource, { seen, replicas }, run.signal)
  context.findings = { ...context.findings, unwatched }
  return unwatched.length === 0 ? seen : observeState(parts, resource, unwatched)
}

/** Fingerprints of the keys that replicas have, or had when they were last seen. */
function keysOf(replicas: readonly ReplicaIdentity[]): string[] {
  return replicas
    .flatMap(({ key, known }) => [key, known?.fingerprint ?? null])
    .filter((one) => one !== null)
}

interface Observations<F> {
  readonly state: ObservedState
  readonly inputs: FetchedInputs<F>
  readonly identities: readonly ReplicaIdentity[]
  readonly shared: readonly SharedKey[]
}

/** What follows; reads and writes nothing. */
function evaluate<R extends Resource, F>(
  { resource, logic, parts, findings }: ReconcileContext<R, F>,
  { state, inputs, identities, shared }: Observations<F>,
): Evaluated<F> {
  const { keyring, facts, missing } = inputs
  const kept = { keyring, claims: state.allClaims }
  const isBound = areKeysBound(resource, kept)
  const own = planIdentity(resource, identities, keyring.exists, isBound)
  const problem = own.problem ?? sharedKeyProblem(resource, identities, shared, isBound)
  return {
    ...findings,
    state,
    inputs,
    identity: { ...own, problem },
    problem: problem ?? chainProblem(resource, state.claims),
    plan: planObjects(logic, parts, resource, { state, facts }),
    owners: ownerChanges(resource, kept),
    hold: holdOf(
      resource,
      missingSecretStatement(resource, missing) ?? logic.hold(resource, facts),
    ),
  }
}

/** Nothing that pods wait for keeps them from being taken away. */
function holdOf<H>(resource: Resource, hold: H): H | null {
  return wantedReplicas(resource) === 0 ? null : hold
}
