/**
 * Merges a user's pod template over ours as `kubectl patch` merges strategically: objects field by
 * field, the lists below by their key, every other list as a whole; null takes a field away.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/ calls the same lists "map" lists.
 */

/** Lists of a pod template that are merged, with the field that tells their items apart. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  volumes: 'name',
  env: 'name',
  imagePullSecrets: 'name',
  resourceClaims: 'name',
  volumeMounts: 'mountPath',
  volumeDevices: 'devicePath',
  ports: 'containerPort',
  hostAliases: 'ip',
  topologySpreadConstraints: 'topologyKey',
}

/** The base with the patch over it; neither is changed. New items of a list come last. */
export function mergeStrategically<T extends object>(base: T, patch: object): T {
  const result: Record<string, unknown> = Object.fromEntries(Object.entries(base))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else if (value !== undefined) result[name] = mergeField(name, result[name], value)
  }
  return result as T
}

function mergeField(name: string, before: unknown, value: unknown): unknown {
  const key = mergeKeys[name]
  if (Array.isArray(value)) {
    return key === undefined ? value : mergeItems(key, Array.isArray(before) ? before : [], value)
  }
  if (!isObject(value)) return value
  return mergeStrategically(isObject(before) ? before : {}, value)
}

function mergeItems(key: string, before: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const items = [...before]
  for (const entry of patch) {
    const index = items.findIndex((item) => fieldOf(item, key) === fieldOf(entry, key))
    const old = index < 0 ? undefined : items[index]
    const merged = isObject(entry) ? mergeStrategically(isObject(old) ? old : {}, entry) : entry
    if (index < 0) items.push(merged)
    else items[index] = merged
  }
  return items
}

function fieldOf(item: unknown, key: string): unknown {
  return isObject(item) ? Object.entries(item).find(([name]) => name === key)?.[1] : item
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
