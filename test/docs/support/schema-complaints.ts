/** What a schema of `crds/` or of a chart's values has against a value: all but rules in CEL. */

/** As much of JSON Schema as these files use. */
export interface CheckedSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: CheckedSchema
  readonly properties?: Readonly<Record<string, CheckedSchema>>
  readonly additionalProperties?: CheckedSchema | boolean
  readonly required?: readonly string[]
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
}

/** Complaints with the paths of their values; none where the value is taken. */
export function schemaComplaints(schema: CheckedSchema, value: unknown, path = ''): string[] {
  const complaint = ownComplaint(schema, value)
  if (complaint !== null) return [`${path}: ${complaint}`]
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => schemaComplaints(schema.items ?? {}, item, `${path}[${at}]`))
  }
  if (typeof value !== 'object' || value === null) return []
  const missing = (schema.required ?? [])
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => `${path}.${name}: missing`)
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const own = fieldOf(schema, name)
    return own === null
      ? [`${path}.${name}: unknown`]
      : schemaComplaints(own, field, `${path}.${name}`)
  })
  return [...missing, ...fields]
}

/** The schema of a field; null where there is no such field. */
function fieldOf(schema: CheckedSchema, name: string): CheckedSchema | null {
  const { properties, additionalProperties } = schema
  const own = properties?.[name]
  if (own !== undefined) return own
  if (typeof additionalProperties === 'object') return additionalProperties
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    additionalProperties === true ||
    (properties === undefined && additionalProperties === undefined)
  return isOpen ? {} : null
}

function ownComplaint(schema: CheckedSchema, value: unknown): string | null {
  const { type, enum: choices } = schema
  if (type !== undefined && !hasType(type, value)) return `no ${type}`
  if (choices !== undefined && !choices.includes(value)) return `not one of ${choices.join(', ')}`
  if (typeof value === 'string') return textComplaint(schema, value)
  if (typeof value === 'number') return rangeComplaint(value, schema.minimum, schema.maximum)
  return Array.isArray(value)
    ? rangeComplaint(value.length, schema.minItems, schema.maxItems)
    : null
}

function textComplaint(
  { pattern, minLength, maxLength }: CheckedSchema,
  value: string,
): string | null {
  if (pattern !== undefined && !new RegExp(pattern).test(value)) return `does not match ${pattern}`
  return rangeComplaint(value.length, minLength, maxLength)
}

function rangeComplaint(value: number, minimum = -Infinity, maximum = Infinity): string | null {
  return value < minimum || value > maximum ? `${value} is out of range` : null
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}
