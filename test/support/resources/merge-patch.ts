/** JSON merge patches (RFC 7396), in which tables of manifests are written. */

export type JsonObject = Readonly<Record<string, unknown>>

/** The object with the patch applied; null takes a field away, lists are replaced. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...target }
  for (const [name, value] of Object.entries(patch)) {
    const before = result[name]
    if (value === null) delete result[name]
    else result[name] = isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value
  }
  return result
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
