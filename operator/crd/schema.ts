/**
 * Turns the types of the API into structural OpenAPI schemas, as CRDs want them.
 *
 * A field's comment becomes its description; without `?` and without a default it is required. What
 * types cannot say is in tags:
 *
 * - `@default` (JSON), `@minimum`, `@maximum`, `@minLength`, `@maxLength`, `@minItems`, `@maxItems`,
 *   `@minProperties`, `@maxProperties`, `@format`: as in OpenAPI
 * - `@listType atomic | set`, `@listMapKey key`: how lists are merged
 * - `@preserveUnknown`: fields that are not declared are kept
 * - `@rule` a CEL expression, `@message` what the user reads, `@fieldPath` what it is about
 *
 * Tags of a type and of a field that has this type add up. An unknown tag is a bug.
 */
import ts from 'typescript'
import { invariant } from '../../src/errors.ts'
import { commentOf, type Declarations } from './declarations.ts'
import type { DocComment, DocTag } from './doc-comment.ts'

/** A rule in CEL. */
interface Validation {
  rule: string
  message: string
  fieldPath?: string
}

/** A structural schema. */
export interface Schema {
  description?: string
  type?: string
  format?: string
  enum?: readonly string[]
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
  items?: Schema
  additionalProperties?: Schema
  properties?: Record<string, Schema>
  required?: readonly string[]
  'x-kubernetes-list-type'?: string
  'x-kubernetes-list-map-keys'?: readonly string[]
  'x-kubernetes-preserve-unknown-fields'?: true
  'x-kubernetes-validations'?: readonly Validation[]
}

const numberTags = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const

/** The schema of a declared type, with the type's own comment as its description. */
export function schemaOf(name: string, declarations: Declarations): Schema {
  const comment = declarations.get(name)?.comment
  invariant(comment !== undefined && comment.text !== '', `${name} has no comment`)
  return { description: comment.text, ...namedSchema(name, declarations) }
}

function namedSchema(name: string, declarations: Declarations): Schema {
  const declaration = declarations.get(name)
  invariant(declaration !== undefined, `${name} is not declared in the API`)
  const { node, comment } = declaration
  const base = ts.isInterfaceDeclaration(node)
    ? interfaceSchema(node, declarations)
    : typeSchema(node.type, declarations)
  return withTags(base, comment.tags, name)
}

function interfaceSchema(node: ts.InterfaceDeclaration, declarations: Declarations): Schema {
  const bases = (node.heritageClauses ?? [])
    .flatMap((clause) => clause.types)
    .map((type) => namedSchema(type.expression.getText(), declarations))
  const properties: Record<string, Schema> = {}
  const required = new Set<string>()
  for (const base of bases) {
    Object.assign(properties, base.properties)
    for (const name of base.required ?? []) required.add(name)
  }
  for (const member of node.members) {
    invariant(ts.isPropertySignature(member), `${node.name.text} has more than fields`)
    const name = member.name.getText()
    const schema = fieldSchema(member, `${node.name.text}.${name}`, declarations)
    properties[name] = schema
    const isOptional = member.questionToken !== undefined || schema.default !== undefined
    if (isOptional) required.delete(name)
    else required.add(name)
  }
  const rules = bases.flatMap((base) => base['x-kubernetes-validations'] ?? [])
  return {
    type: 'object',
    ...(required.size > 0 ? { required: [...required] } : {}),
    properties,
    ...(rules.length > 0 ? { 'x-kubernetes-validations': rules } : {}),
  }
}

function fieldSchema(
  member: ts.PropertySignature,
  path: string,
  declarations: Declarations,
): Schema {
  invariant(member.type !== undefined, `${path} has no type`)
  const comment = commentOf(member)
  const schema = withTags(typeSchema(member.type, declarations), comment.tags, path)
  return { description: describe(comment, schema, path), ...schema }
}

function describe(comment: DocComment, schema: Schema, path: string): string {
  invariant(comment.text !== '', `${path} has no comment`)
  const shown = schema.default
  const isScalar = shown !== undefined && typeof shown !== 'object'
  return isScalar ? `${comment.text} Default: ${String(shown)}.` : comment.text
}

function typeSchema(node: ts.TypeNode, declarations: Declarations): Schema {
  if (node.kind === ts.SyntaxKind.StringKeyword) return { type: 'string' }
  if (node.kind === ts.SyntaxKind.BooleanKeyword) return { type: 'boolean' }
  if (node.kind === ts.SyntaxKind.NumberKeyword) return { type: 'integer', format: 'int64' }
  if (ts.isTypeOperatorNode(node)) return typeSchema(node.type, declarations)
  if (ts.isArrayTypeNode(node)) {
    return { type: 'array', items: typeSchema(node.elementType, declarations) }
  }
  if (ts.isUnionTypeNode(node)) return { type: 'string', enum: node.types.map(literalOf) }
  if (ts.isLiteralTypeNode(node)) return { type: 'string', enum: [literalOf(node)] }
  invariant(ts.isTypeReferenceNode(node), `${node.getText()} has no schema`)
  return referenceSchema(node, declarations)
}

function referenceSchema(node: ts.TypeReferenceNode, declarations: Declarations): Schema {
  const name = node.typeName.getText()
  const [first, second] = node.typeArguments ?? []
  if (name === 'Readonly' && first !== undefined) return typeSchema(first, declarations)
  if (name !== 'Record') return namedSchema(name, declarations)
  invariant(second !== undefined, 'a record needs two types')
  return second.kind === ts.SyntaxKind.UnknownKeyword
    ? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    : { type: 'object', additionalProperties: typeSchema(second, declarations) }
}

function literalOf(node: ts.TypeNode): string {
  invariant(
    ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal),
    `${node.getText()} is not a text`,
  )
  return node.literal.text
}

function withTags(schema: Schema, tags: readonly DocTag[], path: string): Schema {
  const result: Schema = { ...schema }
  const rules = readRules(tags, path)
  for (const tag of tags) applyTag(result, tag, path)
  if (rules.length > 0) {
    result['x-kubernetes-validations'] = [...(schema['x-kubernetes-validations'] ?? []), ...rules]
  }
  return result
}

function applyTag(schema: Schema, { name, value }: DocTag, path: string): void {
  const bound = numberTags.find((known) => known === name)
  if (bound !== undefined) schema[bound] = Number(value)
  else if (name === 'default') schema.default = JSON.parse(value)
  else if (name === 'format') schema.format = value
  else if (name === 'listType') schema['x-kubernetes-list-type'] = value
  else if (name === 'listMapKey') {
    schema['x-kubernetes-list-type'] = 'map'
    schema['x-kubernetes-list-map-keys'] = [value]
  } else if (name === 'preserveUnknown') schema['x-kubernetes-preserve-unknown-fields'] = true
  else invariant(['rule', 'message', 'fieldPath'].includes(name), `${path} has @${name}`)
}

/** Rules are written as @rule, @message and perhaps @fieldPath, in this order. */
function readRules(tags: readonly DocTag[], path: string): Validation[] {
  const rules: Validation[] = []
  for (const { name, value } of tags) {
    const last = rules.at(-1)
    if (name === 'rule') rules.push({ rule: value, message: '' })
    if (name !== 'message' && name !== 'fieldPath') continue
    invariant(last !== undefined, `${path} has @${name} before any @rule`)
    last[name] = value
  }
  const silent = rules.find(({ message }) => message === '')
  invariant(silent === undefined, `${path} has a rule without a message: ${silent?.rule}`)
  return rules
}
