/**
 * Fills in the defaults of a structural schema as the API server does: from the top, into objects that
 * are there. `test/e2e/cluster/operator/refusals.test.ts` shows that the real one comes to the same.
 */
import type { Schema } from '../../../operator/crd/schema.ts'

/** The value with every default that applies to it. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    return schema.items === undefined
      ? value
      : value.map((item) => withDefaults(schema.items ?? {}, item))
  }
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, unknown> = { ...value }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (result[name] === undefined && property.default !== undefined) {
      result[name] = structuredClone(property.default)
    }
    if (result[name] !== undefined) result[name] = withDefaults(property, result[name])
  }
  return result
}
