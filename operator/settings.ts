/** The settings of the operator. */
import { type LogLevel, logLevels } from '../src/service/log-level.ts'
import type { SettingsTable } from '../src/service/settings/setting.ts'
import {
  type Address,
  boolean,
  choice,
  hostAndPort,
  integerBetween,
  list,
  path,
  text,
} from '../src/service/settings/setting-kinds.ts'

export interface OperatorSettings {
  /** Namespaces that are watched; none means all. */
  readonly watchNamespaces: readonly string[]
  readonly leaderElect: boolean
  readonly leaseName: string
  readonly leaseNamespace: string | null
  /** How long others wait for a renewal of the Lease. */
  readonly leaseMs: number
  /** How long after a renewal the leader still writes. */
  readonly renewDeadlineMs: number
  /** Pause between attempts at the Lease. */
  readonly retryMs: number
  readonly generatorImage: string
  readonly hostImage: string
  /** Null: nothing can be registered. */
  readonly toolkitImage: string | null
  readonly generatorPriorityClass: string | null
  readonly imagePullSecrets: readonly string[]
  readonly generateNetworkPolicy: boolean
  readonly generatePodDisruptionBudget: boolean
  readonly clusterDomain: string
  /** Resources of each kind that are worked on at once. */
  readonly workers: number
  readonly resyncMs: number
  readonly healthAddress: Address
  readonly metricsAddress: Address
  readonly logLevel: LogLevel
  /** Null follows the terminal. */
  readonly logFormat: LogFormat | null
  /** Null in a pod. */
  readonly kubeconfig: string | null
  readonly serviceAccount: string
}

const logFormats = ['json', 'text'] as const
type LogFormat = (typeof logFormats)[number]

const label = text(
  'a DNS label, as names of namespaces are',
  /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
)
const objectName = text(
  'a name of lower-case letters, digits, "-" and "."',
  /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/,
)
const image = text('an image reference without spaces', /^\S+$/)

/** Everything that can be set, for reading and help. */
export const operatorSettings: SettingsTable<OperatorSettings> = {
  watchNamespaces: {
    key: 'watch.namespaces',
    env: 'WATCH_NAMESPACES',
    kind: list(label),
    default: [],
    doc: 'Namespaces that are watched for Generators and Hosts; without any, all of them.',
  },
  leaderElect: {
    key: 'leader.elect',
    env: 'LEADER_ELECT',
    kind: boolean,
    default: true,
    doc: 'Whether a Lease decides which of several operators works. Needed wherever two may run at once, and two do while a Deployment is updated.',
  },
  leaseName: {
    key: 'leader.lease_name',
    env: 'LEASE_NAME',
    kind: objectName,
    default: 'viewmesh-operator',
    doc: 'Name of the Lease.',
  },
  leaseNamespace: {
    key: 'leader.lease_namespace',
    env: 'LEASE_NAMESPACE',
    kind: label,
    doc: 'Namespace of the Lease; without it the namespace of the pod.',
  },
  leaseMs: {
    key: 'leader.lease_duration',
    env: 'LEASE_DURATION_MS',
    kind: integerBetween(1_000, 3_600_000),
    unit: 'ms',
    default: 15_000,
    doc: 'How long the others wait for the leader to renew the Lease before one of them takes it.',
  },
  renewDeadlineMs: {
    key: 'leader.renew_deadline',
    env: 'RENEW_DEADLINE_MS',
    kind: integerBetween(500, 3_600_000),
    unit: 'ms',
    default: 10_000,
    doc: 'How long after its last renewal the leader still writes; shorter than the Lease lasts.',
  },
  retryMs: {
    key: 'leader.retry_period',
    env: 'RETRY_PERIOD_MS',
    kind: integerBetween(100, 3_600_000),
    unit: 'ms',
    default: 2_000,
    doc: 'Pause between attempts to have or renew the Lease; half of the renew deadline at most.',
  },
  generatorImage: {
    key: 'images.generator',
    env: 'GENERATOR_IMAGE',
    kind: image,
    required: true,
    doc: 'Image of Generators whose spec names none.',
  },
  hostImage: {
    key: 'images.host',
    env: 'HOST_IMAGE',
    kind: image,
    required: true,
    doc: 'Image of Hosts whose spec names none.',
  },
  toolkitImage: {
    key: 'images.toolkit',
    env: 'TOOLKIT_IMAGE',
    kind: image,
    doc: 'Image of the Jobs that register Views; without it, none is registered.',
  },
  generatorPriorityClass: {
    key: 'generator.priority_class',
    env: 'GENERATOR_PRIORITY_CLASS',
    kind: objectName,
    doc: 'Priority class of Generators whose spec names none; should be below that of execution nodes.',
  },
  imagePullSecrets: {
    key: 'images.pull_secrets',
    env: 'IMAGE_PULL_SECRETS',
    kind: list(objectName),
    default: [],
    doc: 'Secrets for pulling the images of Generators and Hosts, beside those of podTemplate; each namespace of theirs has to have them.',
  },
  generateNetworkPolicy: {
    key: 'generate.network_policy',
    env: 'GENERATE_NETWORK_POLICY',
    kind: boolean,
    default: true,
    doc: 'Whether NetworkPolicies are made where specs want them; false takes away those that were made.',
  },
  generatePodDisruptionBudget: {
    key: 'generate.pod_disruption_budget',
    env: 'GENERATE_POD_DISRUPTION_BUDGET',
    kind: boolean,
    default: true,
    doc: 'Whether Hosts of several replicas get a PodDisruptionBudget; false takes away those that were made.',
  },
  clusterDomain: {
    key: 'cluster.domain',
    env: 'CLUSTER_DOMAIN',
    kind: objectName,
    default: 'cluster.local',
    doc: 'What names of Services end in.',
  },
  workers: {
    key: 'workers',
    env: 'WORKERS',
    kind: integerBetween(1, 64),
    default: 4,
    doc: 'Resources of each kind that are worked on at once.',
  },
  resyncMs: {
    key: 'resync_interval',
    env: 'RESYNC_INTERVAL_MS',
    kind: integerBetween(1_000, 86_400_000),
    unit: 'ms',
    default: 5_000,
    doc: 'Every resource is reconciled again after this time, even if nothing changed, and its Secrets are read again; later where there are many resources, so that there are five a second at most.',
  },
  healthAddress: {
    key: 'health.addr',
    env: 'HEALTH_ADDR',
    kind: hostAndPort,
    default: '0.0.0.0:8080',
    doc: 'Where /healthz and /readyz are served.',
  },
  metricsAddress: {
    key: 'metrics.addr',
    env: 'METRICS_ADDR',
    kind: hostAndPort,
    default: '0.0.0.0:8081',
    doc: 'Where /metrics is served.',
  },
  logLevel: {
    key: 'log.level',
    env: 'LOG_LEVEL',
    kind: choice(logLevels),
    default: 'info',
    doc: 'The least serious line that is written.',
  },
  logFormat: {
    key: 'log.format',
    env: 'LOG_FORMAT',
    kind: choice(logFormats),
    doc: 'How lines are written; without it as text on a terminal, and as JSON elsewhere.',
  },
  kubeconfig: {
    key: 'kubeconfig',
    env: 'KUBECONFIG',
    kind: path,
    doc: 'Kubeconfig for an operator outside of the cluster; without it the service account of the pod.',
  },
  serviceAccount: {
    key: 'service_account',
    env: 'SERVICE_ACCOUNT_DIR',
    kind: path,
    default: '/var/run/secrets/kubernetes.io/serviceaccount',
    doc: 'Folder with token, ca.crt and namespace of the service account.',
  },
}

/** What is wrong with settings that are right each by itself. */
export function contradictions({
  leaseMs,
  renewDeadlineMs,
  retryMs,
}: OperatorSettings): readonly string[] {
  return [
    ...(renewDeadlineMs < leaseMs
      ? []
      : [
          `leader.renew_deadline (${renewDeadlineMs} ms) has to be shorter than leader.lease_duration (${leaseMs} ms): else two operators could write at once`,
        ]),
    ...(2 * retryMs <= renewDeadlineMs
      ? []
      : [
          `leader.retry_period (${retryMs} ms) has to be half of leader.renew_deadline (${renewDeadlineMs} ms) at most: else one failed attempt would stop all writing`,
        ]),
  ]
}
