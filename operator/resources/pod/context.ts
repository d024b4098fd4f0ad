/** What builders have to know beyond the resource itself. All of it is data, so builders stay pure. */
import type { ProgramName } from '../../../src/service/contract.ts'
import type { GeneratorReference } from '../../api/common-spec.ts'
import type { GeneratorSigner } from '../../api/status.ts'
import type { PlacedViews } from './placed-views.ts'
import type { TemplateRecord } from './template-record.ts'

/** What this operator chooses where a spec says nothing. A newer operator may choose otherwise. */
export interface OperatorDefaults {
  /** Whole image references, by program. */
  readonly images: Readonly<Record<ProgramName, string>>
  /** Whole image reference for Jobs that register Views; null where there is none. */
  readonly toolkitImage: string | null
  /** Priority class of Generators, below that of execution nodes; null leaves it to the cluster. */
  readonly generatorPriorityClass: string | null
  /** Names of Secrets for pulling images, in the namespace of each resource. */
  readonly imagePullSecrets: readonly string[]
  /** False makes no NetworkPolicies, whatever specs say. */
  readonly generateNetworkPolicy: boolean
  /** False makes no PodDisruptionBudgets. */
  readonly generatePodDisruptionBudget: boolean
}

/** The pods of an execution node, as found behind a Service or by a selector. */
export interface ExecutionNode {
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  /** `namespace/name` of the Service they were found behind. */
  readonly service?: string
  /** True where they are in the network of their machines, or may be: no policy can name them there. */
  readonly isHostNetwork?: boolean
}

/** What builders of both kinds need. */
export interface BuildContext {
  /** Ends the names of Services, usually `cluster.local`. */
  readonly clusterDomain: string
  readonly defaults: OperatorDefaults
  /** By ordinal: external addresses that were discovered, as multiaddrs. */
  readonly announce: readonly (readonly string[])[]
  /** By ordinal, of pods that there are: the port that answers /health to everybody. */
  readonly publicHealth: ReadonlyMap<number, number>
  /** By ordinal: peer IDs of replicas, as far as they are known. */
  readonly peerIDs: ReadonlyMap<number, string>
  /** The pod template that was applied last; null before the first time. */
  readonly recorded: TemplateRecord | null
  /** Whether that of a Host names a file of signers; null where that is not recorded (`discovered.ts`). */
  readonly recordedSignersFile: boolean | null
}

/** What builders of a Generator need. */
export interface GeneratorContext extends BuildContext {
  /**
   * The execution node's pods; null where they are not known or the upstream is a URL. Once known, the
   * last ones known should be passed, since a change replaces the pod.
   */
  readonly executionNode: ExecutionNode | null
  /** When the generated schema keys were last renewed; a pod that started before has others. */
  readonly schemaKeysRenewed?: string | null
}

/** What builders of a Host need. */
export interface HostContext extends BuildContext {
  /** Addresses of the Generators it refers to, as multiaddrs that end in peer IDs. */
  readonly peers: readonly string[]
  /** Signers accepted because the spec names their Generator. */
  readonly signers: readonly GeneratorSigner[]
  /** The Generator whose schema is compared, once its key is in this namespace; null for none. */
  readonly schemaSource: Required<GeneratorReference> | null
  /** Where the Views that select it lie. */
  readonly views: PlacedViews
  /** Whether a Generator it refers to is in the network of its machine, where no policy can name it. */
  readonly hasHostNetworkSource?: boolean
}
