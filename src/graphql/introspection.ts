/**
 * Introspection: what the schema says about itself. Its fields and their values are those of
 * graphql-js; they are gone through here, so that what they take is counted and others have a turn
 * in between.
 */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  SchemaMetaFieldDef,
  stripIgnoredCharacters,
  TypeMetaFieldDef,
} from 'graphql'
import { collectFields } from './collect-fields.ts'
import { type Compilation, fieldOf, firstOf, toSourceOf } from './compilation.ts'
import type { IntrospectionField } from './plan.ts'
import { coerceArguments, type Run } from './run.ts'

const standardText = stripIgnoredCharacters(getIntrospectionQuery())

/** True for the query that GraphiQL and other tools send to learn the schema. Its answer alone is worth keeping. */
export function isStandardIntrospection(text: string): boolean {
  if (!text.includes('__schema') || text.length > 4 * standardText.length) return false
  return stripIgnoredCharacters(text) === standardText
}

// --- Compiling ------------------------------------------------------------------------------

/** Compiles `__schema` or `__type`. */
export function compileIntrospection(
  compilation: Compilation,
  key: string,
  nodes: readonly FieldNode[],
): IntrospectionField {
  const isSchema = firstOf(nodes).name.value === '__schema'
  const definition = isSchema ? SchemaMetaFieldDef : TypeMetaFieldDef
  return compileField(compilation, definition, key, nodes)
}

function compileField(
  compilation: Compilation,
  definition: GraphQLField<unknown, unknown>,
  key: string,
  nodes: readonly FieldNode[],
): IntrospectionField {
  const source = toSourceOf(compilation, definition, firstOf(nodes))
  const type = getNamedType(definition.type)
  if (!isObjectType(type)) return { type: 'field', key, source, below: [] }
  const sets = nodes.map(({ selectionSet }) => selectionSet)
  const below = [...collectFields(compilation.collector, sets)].map(
    ([name, found]): IntrospectionField['below'][number] => {
      const field = firstOf(found).name.value
      if (field === '__typename') return { type: 'constant', key: name, value: type.name }
      return compileField(compilation, fieldOf(type, field), name, found)
    },
  )
  return { type: 'field', key, source, below }
}

// --- Answering ------------------------------------------------------------------------------

/** Characters after which a piece of the answer is done. */
const pieceLength = 64 * 1024

/** The answer as JSON text in the making. */
interface Answer {
  readonly run: Run
  readonly info: GraphQLResolveInfo
  readonly pieces: string[]
  text: string
}

/** The value of a field as pieces of JSON text. */
export async function introspect(
  run: Run,
  field: IntrospectionField,
  schema: GraphQLSchema,
): Promise<readonly string[]> {
  // The resolvers of introspection look at nothing else.
  const info = { schema } as GraphQLResolveInfo
  const answer: Answer = { run, info, pieces: [], text: '' }
  await writeField(answer, undefined, field)
  finishPiece(answer)
  return answer.pieces
}

async function writeField(
  answer: Answer,
  parent: unknown,
  { source, below }: IntrospectionField,
): Promise<void> {
  const args = coerceArguments(answer.run, source)
  const value = source.field.resolve?.(parent, args, undefined, answer.info)
  await writeValue(answer, source.field.type, value, below)
}

async function writeValue(
  answer: Answer,
  type: GraphQLOutputType,
  value: unknown,
  below: IntrospectionField['below'],
): Promise<void> {
  if (isNonNullType(type)) await writeValue(answer, type.ofType, value, below)
  else if (value === null || value === undefined) answer.text += 'null'
  else if (isLeafType(type)) answer.text += JSON.stringify(type.serialize(value))
  else if (isListType(type)) await writeList(answer, type.ofType, value as Iterable<unknown>, below)
  else await writeObject(answer, value, below)
}

async function writeList(
  answer: Answer,
  type: GraphQLOutputType,
  items: Iterable<unknown>,
  below: IntrospectionField['below'],
): Promise<void> {
  let separator = '['
  for (const item of items) {
    answer.text += separator
    separator = ','
    await writeValue(answer, type, item, below)
  }
  answer.text += separator === '[' ? '[]' : ']'
}

async function writeObject(
  answer: Answer,
  value: unknown,
  below: IntrospectionField['below'],
): Promise<void> {
  const { work } = answer.run.session
  work.look(1)
  if (work.isDue()) await work.turn()
  let separator = '{'
  for (const field of below) {
    answer.text += `${separator}"${field.key}":`
    separator = ','
    if (field.type === 'constant') answer.text += JSON.stringify(field.value)
    else await writeField(answer, value, field)
    if (answer.text.length > pieceLength) finishPiece(answer)
  }
  answer.text += '}'
}

function finishPiece(answer: Answer): void {
  answer.run.session.work.addBytes(answer.text.length)
  answer.pieces.push(answer.text)
  answer.text = ''
}
