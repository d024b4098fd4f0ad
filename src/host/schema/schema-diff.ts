/** Compares a Generator's schema with our own: fields and their types. Indexes are each node's own business. */
import { type DocumentNode, parse, type TypeNode } from 'graphql'

/** Tokens a schema may have; ours has about 600. */
const maxTokens = 20_000

/** A schema's fields, `Block.number` -> `Int`, without the network's prefix. */
export type SchemaFields = ReadonlyMap<string, string>

/** Reads a schema. Throws graphql's syntax error for what is none. */
export function parseSchemaFields(sdl: string, network: string): SchemaFields {
  const fields = new Map<string, string>()
  for (const definition of parseSdl(sdl).definitions) {
    if (definition.kind !== 'ObjectTypeDefinition') continue
    const type = withoutPrefix(definition.name.value, network)
    for (const field of definition.fields ?? [])
      fields.set(`${type}.${field.name.value}`, typeText(field.type, network))
  }
  return fields
}

/** One sentence for each field that differs, in the order of our own schema, then theirs. */
export function compareSchemas(own: SchemaFields, theirs: SchemaFields): string[] {
  const differing: string[] = []
  for (const [field, type] of own) {
    const other = theirs.get(field)
    if (other === undefined) differing.push(`${field}: missing at the Generator`)
    else if (other !== type) differing.push(`${field}: ${type} here, ${other} at the Generator`)
  }
  for (const field of theirs.keys())
    if (!own.has(field)) differing.push(`${field}: only at the Generator`)
  return differing
}

function parseSdl(sdl: string): DocumentNode {
  return parse(sdl, { noLocation: true, maxTokens })
}

function typeText(type: TypeNode, network: string): string {
  if (type.kind === 'NamedType') return withoutPrefix(type.name.value, network)
  if (type.kind === 'ListType') return `[${typeText(type.type, network)}]`
  return `${typeText(type.type, network)}!`
}

function withoutPrefix(name: string, network: string): string {
  return name.startsWith(`${network}__`) ? name.slice(network.length + 2) : name
}
