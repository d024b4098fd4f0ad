/** The kinds of objects that requests are about, and their paths at the API server. */

/** One kind, as the API server serves it. */
export interface ResourceType {
  /** `v1` or `apps/v1`. */
  readonly apiVersion: string
  readonly kind: string
  /** Lower-case plural, as in paths. */
  readonly plural: string
  /** True where what the API server says of an object may repeat its data; it is then never shown. */
  readonly confidential?: true
}

/** One object of a kind; without a namespace for kinds that have none. */
export interface ObjectAddress {
  readonly type: ResourceType
  readonly namespace?: string | undefined
  readonly name: string
}

type BuiltinKind =
  | 'ConfigMap'
  | 'Event'
  | 'Job'
  | 'Lease'
  | 'NetworkPolicy'
  | 'PersistentVolumeClaim'
  | 'Pod'
  | 'PodDisruptionBudget'
  | 'Secret'
  | 'Service'
  | 'ServiceAccount'
  | 'StatefulSet'
  | 'StorageClass'

/** Kinds of Kubernetes itself. */
export const builtinTypes: Readonly<Record<BuiltinKind, ResourceType>> = {
  ConfigMap: { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
  Event: { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' },
  Job: { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' },
  Lease: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' },
  NetworkPolicy: {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
  },
  PersistentVolumeClaim: {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
  },
  Pod: { apiVersion: 'v1', kind: 'Pod', plural: 'pods' },
  PodDisruptionBudget: {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
  },
  Secret: { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', confidential: true },
  Service: { apiVersion: 'v1', kind: 'Service', plural: 'services' },
  ServiceAccount: { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' },
  StatefulSet: { apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets' },
  StorageClass: {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    plural: 'storageclasses',
  },
}

/** The path of a kind, in one namespace or (undefined) in all of them. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.apiVersion.includes('/') ? '/apis' : '/api'
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `${root}/${type.apiVersion}${scope}/${type.plural}`
}

/** The path of one object or of a subresource of it (`status`). */
export function objectPath(address: ObjectAddress, subresource?: string): string {
  const path = `${collectionPath(address.type, address.namespace)}/${encodeURIComponent(address.name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/** `namespace/name`, or the name alone: the key of an object among those of its kind. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** What `keyOf` put together. */
export function parseKey(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = key.includes('/') ? key.split('/') : ['', key]
  return { namespace, name }
}
