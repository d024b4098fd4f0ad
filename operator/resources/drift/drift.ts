/**
 * Where a live object is not what was asked for. An object is applied only where this finds something:
 * an apply that changes nothing still costs the API server a write.
 *
 * What the API server or others add is no difference; what we asked for has to be there. Only what Kubernetes reads as
 * a whole is compared whole, since each thing added there changes what all of it means: selectors, the ports of a
 * Service, the rules of a NetworkPolicy.
 */
import { canonicalJson } from '../names/canonical-json.ts'
import { hasSameKeys, keysOf } from '../names/list-keys.ts'
import { sameQuantity } from '../names/quantity.ts'
import { fieldsOf, isPlainObject } from '../names/unchecked-json.ts'
import type { PatchOperation } from '../secrets/keyring-secret.ts'

/** One place where they differ. */
export interface Drift {
  /** For people: `spec.template.spec.containers[host].image`. */
  readonly path: string
  /** What is there; undefined where nothing is. */
  readonly live: unknown
  /**
   * Of what is there and was not asked for: where it is in the live object (RFC 6901). Server-side apply does not
   * take it away. Null for anything else.
   */
  readonly addition: string | null
}

/** Where in both objects a value is, and how it is compared there. */
interface FieldPosition {
  readonly kind: unknown
  readonly path: string
  readonly pointer: string
  readonly inQuantity: boolean
  readonly isWhole: boolean
}

/** Below these fields Kubernetes writes quantities its own way: 1024Mi becomes 1Gi. */
const quantityFields: readonly string[] = ['requests', 'limits', 'emptyDir', 'divisor']

const selectors: readonly string[] = [
  'selector',
  'podSelector',
  'namespaceSelector',
  'labelSelector',
  'nodeSelector',
]
/** Of a Service; nothing else that is made has them. */
const servicePorts = 'spec.ports'

/**
 * The API server leaves out what is empty, false or 0 in a pod template, but for these fields, where
 * leaving out means something else.
 */
const meaningfulZeros: readonly string[] = [
  'automountServiceAccountToken',
  'enableServiceLinks',
  'allowPrivilegeEscalation',
  'readOnlyRootFilesystem',
  'runAsNonRoot',
  'emptyDir',
]

/** Everything that is missing, other than asked for, or added where nothing may be; empty where nothing has to be written. */
export function driftOf(desired: object, live: object): Drift[] {
  const { kind } = fieldsOf(desired)
  return differences(desired, live, {
    kind,
    path: '',
    pointer: '',
    inQuantity: false,
    isWhole: false,
  })
}

function differences(desired: unknown, live: unknown, at: FieldPosition): Drift[] {
  if (live === undefined && isLeftOut(desired, at)) return []
  if (Array.isArray(desired)) return listDifferences(desired, live, at)
  if (isPlainObject(desired)) {
    if (!isPlainObject(live)) return [differing(live, at)]
    const found = fieldsOf(live)
    const wanted = Object.entries(desired).filter(([, value]) => value !== undefined)
    const ours = wanted.flatMap(([name, value]) =>
      differences(value, found[name], fieldOf(at, name)),
    )
    const names = wanted.map(([name]) => name)
    const added = Object.entries(found).filter(([name]) => at.isWhole && !names.includes(name))
    return [...ours, ...added.map(([name, value]) => additional(value, fieldOf(at, name)))]
  }
  if (desired === live || (at.inQuantity && sameQuantity(desired, live))) return []
  return [differing(live, at)]
}

function listDifferences(desired: readonly unknown[], live: unknown, at: FieldPosition): Drift[] {
  if (!Array.isArray(live)) return desired.length === 0 ? [] : [differing(live, at)]
  if (at.isWhole && at.path !== servicePorts) {
    return canonicalJson(desired) === canonicalJson(live) ? [] : [differing(live, at)]
  }
  const keys = keysOf(lastOf(at.path), desired)
  if (keys === undefined) {
    return desired.length === live.length
      ? desired.flatMap((item, index) =>
          differences(item, live[index], itemOf(at, index, String(index))),
        )
      : [differing(live, at)]
  }
  const nameOf = (item: unknown): string => String(fieldsOf(item)[keys[0] ?? ''])
  const ours = desired.flatMap((item) => {
    const index = live.findIndex((found) => hasSameKeys(keys, found, item))
    return differences(item, live[index], itemOf(at, index, nameOf(item)))
  })
  const added = live.flatMap((found, index): Drift[] =>
    at.isWhole && !desired.some((item) => hasSameKeys(keys, found, item))
      ? [additional(found, itemOf(at, index, nameOf(found)))]
      : [],
  )
  return [...ours, ...added]
}

/** Operations that take what was added out of the live object, as long as it is what was seen there. */
export function withoutAdditions(drift: readonly Drift[]): PatchOperation[] {
  const added = drift.flatMap(({ addition, live }) =>
    addition === null ? [] : [{ path: addition, value: live }],
  )
  // From the end, so that places in lists stay what they are.
  const fromEnd = added.toSorted((a, b) => b.path.localeCompare(a.path, 'en', { numeric: true }))
  return [
    ...added.map(({ path, value }): PatchOperation => ({ op: 'test', path, value })),
    ...fromEnd.map(({ path }): PatchOperation => ({ op: 'remove', path })),
  ]
}

function differing(live: unknown, { path }: FieldPosition): Drift {
  return { path, live, addition: null }
}

function additional(live: unknown, { path, pointer }: FieldPosition): Drift {
  return { path, live, addition: pointer }
}

function fieldOf(at: FieldPosition, name: string): FieldPosition {
  const path = at.path === '' ? name : `${at.path}.${name}`
  return {
    ...at,
    path,
    pointer: `${at.pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    inQuantity: at.inQuantity || quantityFields.includes(name),
    isWhole: at.isWhole || isWhole(at.kind, path, name),
  }
}

/** Within an item that has keys, as a port of a Service, there are defaults again. */
function itemOf(at: FieldPosition, index: number, name: string): FieldPosition {
  return { ...at, path: `${at.path}[${name}]`, pointer: `${at.pointer}/${index}`, isWhole: false }
}

function isWhole(kind: unknown, path: string, name: string): boolean {
  if (kind === 'NetworkPolicy' && path === 'spec') return true
  return path === servicePorts || (path.startsWith('spec.') && selectors.includes(name))
}

function isLeftOut(desired: unknown, { path }: FieldPosition): boolean {
  const isZero = [null, false, 0, ''].some((zero) => zero === desired)
  const isEmpty = isPlainObject(desired) && Object.keys(desired).length === 0
  const name = lastOf(path)
  const isTemplate = path.startsWith('spec.template.')
  return isTemplate && (isZero || isEmpty) && !meaningfulZeros.includes(name)
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}
