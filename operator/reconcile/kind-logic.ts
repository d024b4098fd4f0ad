/** Where Generators and Hosts differ, as the reconcile that they share asks for it. */
import type { V1Secret } from '@kubernetes/client-node'
import type { ConditionType, ReasonOf } from '../api/conditions.ts'
import type { Resource } from '../api.ts'
import type { ResourceObjects } from '../resources/child-object.ts'
import type { BuildContext, OperatorDefaults } from '../resources/context.ts'
import type { Learnt } from '../resources/learnt.ts'
import type { KubernetesApi } from '../runtime/api.ts'
import type { Reflector } from '../runtime/reflector.ts'
import type { HealthView } from './health/health-view.ts'
import type { LastWords } from './health/last-words.ts'
import type { Statement } from './problem.ts'

/** What the operator was started with. */
export interface ReconcileOptions {
  /** Ends the names of Services, usually `cluster.local`. */
  readonly clusterDomain: string
  readonly defaults: OperatorDefaults
}

/** What a look at things that are not watched may use. */
export interface LookParts {
  readonly api: KubernetesApi
  readonly options: ReconcileOptions
  /** What went into the pod template that is there. */
  readonly recorded: Required<Learnt>
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

/** What a look found. */
export interface KindLook<F> {
  /** Kept until the next look; nothing secret is in it. */
  readonly facts: F
  /** Secrets that have to be there before the pods; not kept. */
  readonly secrets: readonly V1Secret[]
}

/** What replicas say, by ordinal. */
export interface Said {
  /** Null where a replica could not be asked, or does not know its own peer ID yet. */
  readonly views: ReadonlyMap<number, HealthView | null>
  /** Of replicas that failed and are not ready since. */
  readonly lastWords: ReadonlyMap<number, LastWords>
}

export type Statements = Partial<Record<ConditionType, Statement>>

export interface KindLogic<R extends Resource, F> {
  readonly kind: R['kind']
  /** Asks for what is not watched: Secrets, and Services of others. */
  readonly look: (resource: R, parts: LookParts) => Promise<KindLook<F>>
  readonly objects: (resource: R, facts: F, context: BuildContext) => ResourceObjects
  /** Why pods are not to be created yet; those that are there are left as they are. */
  readonly hold: (resource: R, facts: F) => Statement<ReasonOf<'Ready'>> | null
  /** Conditions that speak of what replicas say, or said before they failed. */
  readonly statements: (resource: R, facts: F, said: Said) => Statements
  /** What status remembers beside what all resources have; left out where there is nothing. */
  readonly remembered?: (resource: R) => Readonly<Record<string, unknown>>
  /** What is watched of other namespaces and goes into the objects. */
  readonly alsoRead?: (resource: R) => readonly Reflector<unknown>[]
  /** Text that changes when something watched asks for another look. */
  readonly moves?: (resource: R) => string
}
