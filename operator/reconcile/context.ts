/** What the steps of a reconcile share: the tools of its kind, and the resource at hand. */
import type { V1Secret } from '@kubernetes/client-node'
import type { Workload } from '../api.ts'
import type { ReconcileRun } from '../runtime/controller.ts'
import type { ObjectPlan } from './apply/apply-objects.ts'
import type { ReconcileParts } from './apply/reconcile-parts.ts'
import type { FetchedInputs, Memories, ResourceMemory } from './apply/resource-memory.ts'
import type { OwnerChanges } from './evaluate/deletion-policy.ts'
import type { IdentityPlan } from './evaluate/identity.ts'
import type { ObservedState } from './evaluate/observed-state.ts'
import type { KeyHolders } from './fetch/key-holders.ts'
import type { FingerprintCache } from './fetch/keyring.ts'
import type { KindLogic } from './fetch/kind-logic.ts'
import type { ReplicaIdentity } from './observe/claim.ts'
import type { Findings } from './status/findings.ts'

/** What all resources of a kind are reconciled with. */
export interface ReconcileTools<R extends Workload, F> {
  readonly logic: KindLogic<R, F>
  readonly parts: ReconcileParts<R>
  readonly memories: Memories<F>
  readonly fingerprints: FingerprintCache
  readonly holders: KeyHolders
}

/** One resource while it is reconciled. */
export interface ReconcileContext<R extends Workload, F> extends ReconcileTools<R, F> {
  readonly resource: R
  readonly memory: ResourceMemory<F>
  readonly run: ReconcileRun
  /** What was found so far. Replaced as steps return; the status follows from it, however far they got. */
  findings: Findings<F>
}

/** Adds to what was found so far. */
export function addFindings<F>(
  context: { findings: Findings<F> },
  found: Partial<Findings<F>>,
): void {
  context.findings = { ...context.findings, ...found }
}

/** What was found once a resource is evaluated. */
export interface Evaluated<F> extends Findings<F> {
  readonly inputs: FetchedInputs<F>
  /** Secrets that follow from inputs which were just fetched, until they are written. */
  readonly secrets: readonly V1Secret[]
  /** Of wanted replicas. */
  readonly identities: readonly ReplicaIdentity[]
  readonly identity: IdentityPlan
  readonly plan: ObjectPlan
  readonly state: ObservedState
  readonly owners: OwnerChanges
}
