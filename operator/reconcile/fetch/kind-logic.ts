/** Where Generators and Hosts differ, as the reconcile that they share asks for it. */
import type { V1Secret } from '@kubernetes/client-node'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Workload } from '../../api.ts'
import type { ResourceObjects } from '../../resources/objects/child-object.ts'
import type { BuildContext, OperatorDefaults } from '../../resources/pod/context.ts'
import type { Discovered } from '../../resources/pod/discovered.ts'
import type { Reflector } from '../../runtime/cache/reflector.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import type { HealthView } from '../observe/health-view.ts'
import type { TerminationMessage } from '../observe/termination-message.ts'
import type { Statement, Statements } from '../statements/problem.ts'

/** What the operator was started with. */
export interface ReconcileOptions {
  /** Ends the names of Services, usually `cluster.local`. */
  readonly clusterDomain: string
  readonly defaults: OperatorDefaults
}

/** What a fetch of things that are not watched may use. */
export interface FetchParts {
  readonly api: KubernetesApi
  readonly options: ReconcileOptions
  /** What went into the pod template that is there. */
  readonly recorded: Required<Discovered>
  /** Values of Secrets that the spec names, by the field that names them, as far as they are there. */
  readonly named: ReadonlyMap<string, string>
  /** Whether there is or was a pod template, so that pods may have read the Secrets there were. */
  readonly hadPods: boolean
  /** Addresses of all replicas, as multiaddrs that end in peer IDs. */
  readonly addresses: readonly string[]
  /** The time of day. */
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** What was fetched. */
interface KindInputs<F> {
  /** Kept until the next fetch; nothing secret is in it. */
  readonly facts: F
  /** Secrets that have to be there before the pods; not kept. */
  readonly secrets: readonly V1Secret[]
}

/** What replicas report, by ordinal. */
interface ReplicaReports {
  /** Null where a replica did not answer, or does not know its own peer ID yet. */
  readonly views: ReadonlyMap<number, HealthView | null>
  /** Of replicas that failed and are not ready since. */
  readonly terminationMessages: ReadonlyMap<number, TerminationMessage>
}

export interface KindLogic<R extends Workload, F> {
  readonly kind: R['kind']
  /** Fetches what is not watched: Secrets, and Services of others. */
  readonly fetch: (resource: R, parts: FetchParts) => Promise<KindInputs<F>>
  readonly objects: (resource: R, facts: F, context: BuildContext) => ResourceObjects
  /** Why pods are not to be created yet; those that are there are left as they are. */
  readonly hold: (resource: R, facts: F) => Statement<ReasonOf<'Ready'>> | null
  /** Conditions about what replicas report, or reported before they failed. */
  readonly statements: (resource: R, facts: F, said: ReplicaReports) => Statements
  /** What status remembers beside what all resources have; left out where there is nothing. */
  readonly remembered?: (resource: R) => Readonly<Record<string, unknown>>
  /** By hash of block 0: chain IDs that others say, of which replicas themselves say none. */
  readonly chainIDs: (resource: R) => ReadonlyMap<string, number>
  /** What is watched of other namespaces and goes into the objects. */
  readonly alsoRead?: (resource: R) => readonly Reflector<unknown>[]
  /** Text that changes when something watched calls for another fetch. */
  readonly refetchKey?: (resource: R) => string
  /** Text that changes when what is watched of others may have the replicas say something else at `/health`. */
  readonly occasion?: (resource: R) => string
  /** IDs of the Views that replicas are asked for. */
  readonly views?: (resource: R) => readonly string[]
}
