/** Evaluates a resource: reads what is watched, fetches from the cluster what is not, and says what follows from both. Writes nothing to it. */
import type { Workload } from '../api.ts'
import { wantedReplicas } from '../resources/names/names.ts'
import { planObjects } from './apply/apply-objects.ts'
import { fetchInputs } from './apply/fetch-inputs.ts'
import type { FetchedInputs } from './apply/resource-memory.ts'
import { addFindings, type Evaluated, type ReconcileContext } from './context.ts'
import { areKeysBound, ownerChanges } from './evaluate/deletion-policy.ts'
import { planIdentity } from './evaluate/identity.ts'
import { identitiesOf, observeState } from './evaluate/observed-state.ts'
import { chainProblem } from './evaluate/storage.ts'
import { expectNoTerminatingClaims } from './evaluate/terminating-claims.ts'
import { possiblyUnused } from './evaluate/unused-claims.ts'
import { findFailedCreate } from './fetch/failed-create.ts'
import { missingSecretStatement } from './fetch/named-secrets.ts'
import { findUnused } from './fetch/unused-claims.ts'
import { findUnwatchedClaims } from './fetch/unwatched-claims.ts'
import type { ReplicaIdentity } from './observe/claim.ts'
import { templateProblem } from './observe/kept-resource.ts'

/** Which resource has which key is registered by a step. */
type EvaluatedContext<R extends Workload, F> = Omit<ReconcileContext<R, F>, 'holders'>

/**
 * `before` are the inputs as they were fetched last, which are fetched again where they no longer hold. What is found
 * early is added to the findings of `context` at once: it counts also where the rest fails. Throws OPERATOR_TERMINATING
 * where something of a deleted resource of the same name is still there.
 */
export async function evaluateResource<R extends Workload, F>(
  context: EvaluatedContext<R, F>,
  before: FetchedInputs<F> | null,
): Promise<Evaluated<F>> {
  const { resource, parts, run } = context
  const watched = observeState(parts, resource)
  const fetched = await fetchInputs(context, resource, { before, state: watched }, run.signal)
  const { inputs } = fetched
  const replicas = identitiesOf(resource, watched, inputs.keyring)
  const known = { seen: watched, replicas }
  const unwatched = await findUnwatchedClaims(parts.api, resource, known, run.signal)
  addFindings(context, { unwatched })
  const state = unwatched.length === 0 ? watched : observeState(parts, resource, unwatched)
  const failedCreate = await findFailedCreate(parts.api, resource, state, run.signal)
  addFindings(context, { failedCreate })
  expectNoTerminatingClaims(resource, state)
  const candidates = possiblyUnused(resource, state.claims, inputs.keyring)
  const unused = await findUnused(parts.api, resource, candidates, run.signal)
  const identities = identitiesOf(resource, state, inputs.keyring, unused)
  return evaluate(context, { ...fetched, state, identities })
}

interface Observations<F> extends Pick<Evaluated<F>, 'state' | 'inputs' | 'secrets'> {
  readonly identities: readonly ReplicaIdentity[]
}

/** What follows; reads and writes nothing. */
function evaluate<R extends Workload, F>(
  { resource, logic, parts, findings }: EvaluatedContext<R, F>,
  observations: Observations<F>,
): Evaluated<F> {
  const { state, inputs, identities } = observations
  const { keyring, facts, missing } = inputs
  const kept = { keyring, claims: state.allClaims }
  const isBound = areKeysBound(resource, kept)
  const identity = planIdentity(resource, identities, keyring.exists, isBound)
  return {
    ...findings,
    ...observations,
    identity,
    problem: identity.problem ?? chainProblem(resource, state.claims) ?? templateProblem(resource),
    plan: planObjects(logic, parts, resource, { state, facts }),
    owners: ownerChanges(resource, kept),
    hold: holdOf(
      resource,
      missingSecretStatement(resource, missing) ?? logic.hold(resource, facts),
    ),
  }
}

/** Nothing that pods wait for keeps them from being taken away. */
function holdOf<H>(resource: Workload, hold: H): H | null {
  return wantedReplicas(resource) === 0 ? null : hold
}
