/**
 * Lists of Kubernetes objects whose items are identified by some of their fields, as server-side apply does:
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/ calls them "map" lists. All other lists
 * have places.
 */
import { fieldOf } from './unchecked-json.ts'

const listKeys: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  resourceClaims: ['name'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  ownerReferences: ['uid'],
}

/** What Kubernetes takes such a field for where it is left out. */
const defaults: Readonly<Record<string, unknown>> = { protocol: 'TCP' }

/**
 * The fields that identify the items of a list of this name; undefined where their places do. Ports of
 * containers and of Services are both called ports.
 */
export function keysOf(list: string, items: readonly unknown[]): readonly string[] | undefined {
  if (list !== 'ports') return listKeys[list]
  const number = ['containerPort', 'port'].find((key) =>
    items.every((item) => fieldOf(item, key) !== undefined),
  )
  return number === undefined ? undefined : [number, 'protocol']
}

/** Whether two items of a list are the same one to Kubernetes. */
export function hasSameKeys(keys: readonly string[], one: unknown, other: unknown): boolean {
  return keys.every((key) => keyValue(one, key) === keyValue(other, key))
}

function keyValue(item: unknown, key: string): unknown {
  return fieldOf(item, key) ?? defaults[key]
}
