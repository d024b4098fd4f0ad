/**
 * Executes introspection: what the schema says about itself. The values are those of graphql-js;
 * they are resolved here, so that their cost is counted and other requests run in between.
 */
import {
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql'
import type { IntrospectionField } from '../plan/plan.ts'
import { coerceArguments, type Run } from './run.ts'

/** The value of a field as pieces of JSON text. */
export async function introspect(
  run: Run,
  field: IntrospectionField,
  schema: GraphQLSchema,
): Promise<readonly string[]> {
  // The resolvers of introspection read nothing else.
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
  const { budget } = answer.run.session
  budget.countDocuments(1)
  if (budget.shouldYield()) await budget.yieldThread()
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
  answer.run.session.budget.addBytes(answer.text.length)
  answer.pieces.push(answer.text)
  answer.text = ''
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
