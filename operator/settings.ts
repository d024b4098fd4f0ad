/** The settings of the operator. */
import { type LogLevel, logLevels } from '../src/service/log-level.ts'
import type { SettingsTable } from '../src/service/setting.ts'
import {
  type Address,
  address,
  boolean,
  choice,
  integer,
  list,
  path,
  text,
} from '../src/service/setting-kinds.ts'

export interface OperatorSettings {
  /** Namespaces whose resources are looked after; none means all. */
  readonly watchNamespaces: readonly string[]
  readonly leaderElect: boolean
  readonly leaseName: string
  readonly leaseNamespace: string | null
  readonly generatorImage: string
  readonly hostImage: string
  readonly generatorPriorityClass: string | null
  readonly clusterDomain: string
  /** Resources of each kind that are worked on at once. */
  readonly workers: number
  readonly resyncMs: number
  readonly healthAddress: Address
  readonly metricsAddress: Address
  readonly logLevel: LogLevel
  /** Null in a pod. */
  readonly kubeconfig: string | null
  readonly serviceAccount: string
}

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
    doc: 'Namespaces whose Generators and Hosts are looked after; without any, all of them.',
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
  generatorPriorityClass: {
    key: 'generator.priority_class',
    env: 'GENERATOR_PRIORITY_CLASS',
    kind: objectName,
    doc: 'Priority class of Generators whose spec names none; should be below that of execution nodes.',
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
    kind: integer(1, 64),
    default: 4,
    doc: 'Resources of each kind that are worked on at once.',
  },
  resyncMs: {
    key: 'resync_interval',
    env: 'RESYNC_INTERVAL_MS',
    kind: integer(1_000, 86_400_000),
    unit: 'ms',
    default: 600_000,
    doc: 'Every resource is looked at again after about this time, even if nothing changed.',
  },
  healthAddress: {
    key: 'health.addr',
    env: 'HEALTH_ADDR',
    kind: address,
    default: '0.0.0.0:8080',
    doc: 'Where /healthz and /readyz are served.',
  },
  metricsAddress: {
    key: 'metrics.addr',
    env: 'METRICS_ADDR',
    kind: address,
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
