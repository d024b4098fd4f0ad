/** What the figures of many Hosts and Views are measured on, and with. */
import type { Cluster } from '../../e2e/cluster/support/cluster.ts'
import type { MeasuredOperator, StartOperator } from './measured-operator.ts'
import type { StateWatch } from './state-watch.ts'
import type { HostState } from './watches.ts'

/** Names are distinct without their namespaces. */
export interface Place {
  readonly namespace: string
  readonly name: string
}

export interface ScaledResources {
  /** Of Hosts, each with this spec. */
  readonly places: readonly Place[]
  readonly spec: object
  /** Of Views, each for all Hosts of its namespace. */
  readonly views: readonly Place[]
}

export interface ScaleParts {
  readonly cluster: Cluster
  readonly watch: StateWatch<HostState>
  /** How many Views lie in each ConfigMap of a Host. */
  readonly placed: StateWatch<number>
  readonly start: StartOperator
  readonly say: (text: string) => void
  readonly signal: AbortSignal
  /** Has an operator ended with everything else. */
  readonly closeLater: (operator: MeasuredOperator) => void
}

/** Longest wait for anything; goals are well below. */
export const maxMs = 900_000
