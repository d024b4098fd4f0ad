/**
 * Where a live object is not what was asked for. An object is applied only where this finds something:
 * an apply that changes nothing still costs the API server a write.
 *
 * What the API server or others add is no difference; what we asked for has to be there. Rules of a
 * NetworkPolicy are compared whole, since each thing added there changes what it lets through.
 */
import { canonicalJson } from '../names/canonical-json.ts'
import { hasSameKeys, keysOf } from '../names/list-keys.ts'
import { sameQuantity } from '../names/quantity.ts'

/** Below these fields Kubernetes writes quantities its own way: 1024Mi becomes 1Gi. */
const quantityFields: readonly string[] = ['requests', 'limits', 'emptyDir']

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

/** Paths of fields that are missing or other than asked for; empty where nothing has to be written. */
export function driftOf(desired: object, live: object): string[] {
  const isPolicy = entriesOf(desired)['kind'] === 'NetworkPolicy'
  if (!isPolicy) return differences(desired, live, '', false)
  const { spec, ...rest } = entriesOf(desired)
  const isEqual = canonicalJson(spec) === canonicalJson(entriesOf(live)['spec'])
  return [...differences(rest, live, '', false), ...(isEqual ? [] : ['spec'])]
}

function differences(desired: unknown, live: unknown, path: string, inQuantity: boolean): string[] {
  if (live === undefined && isLeftOut(desired, path)) return []
  if (Array.isArray(desired)) return listDifferences(desired, live, path, inQuantity)
  if (isObject(desired)) {
    if (!isObject(live)) return [path]
    const found = entriesOf(live)
    return Object.entries(desired).flatMap(([name, value]) =>
      value === undefined
        ? []
        : differences(
            value,
            found[name],
            path === '' ? name : `${path}.${name}`,
            inQuantity || quantityFields.includes(name),
          ),
    )
  }
  if (desired === live || (inQuantity && sameQuantity(desired, live))) return []
  return [path]
}

function listDifferences(
  desired: readonly unknown[],
  live: unknown,
  path: string,
  inQuantity: boolean,
): string[] {
  if (!Array.isArray(live)) return desired.length === 0 ? [] : [path]
  const keys = keysOf(lastOf(path), desired)
  if (keys === undefined && desired.length !== live.length) return [path]
  return desired.flatMap((item, index) => {
    const [key] = keys ?? []
    const name = key === undefined ? index : entriesOf(item)[key]
    const other = keys === undefined ? live[index] : live.find((l) => hasSameKeys(keys, l, item))
    return differences(item, other, `${path}[${name}]`, inQuantity)
  })
}

function isLeftOut(desired: unknown, path: string): boolean {
  const isZero = [null, false, 0, ''].some((zero) => zero === desired)
  const isEmpty = isObject(desired) && Object.keys(desired).length === 0
  const name = lastOf(path)
  return path.startsWith('spec.template.') && (isZero || isEmpty) && !meaningfulZeros.includes(name)
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function entriesOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? Object.fromEntries(Object.entries(value)) : {}
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
