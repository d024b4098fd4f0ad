/** The rows of a View: the one object type of its SDL. */
import {
  type DefinitionNode,
  type DirectiveNode,
  type FieldDefinitionNode,
  Kind,
  type NameNode,
  type ObjectTypeDefinitionNode,
  print,
  type TypeNode,
} from 'graphql'
import { invariant } from '../../errors.ts'
import { isReservedTypeName, reservedFieldNames } from '../names/reserved-names.ts'
import { parseText, wrongNode } from '../source-text.ts'

/** What a value of a row is; text of a whole number for `BigInt`, anything for `JSON`. */
const rowScalars = ['String', 'Int', 'Float', 'Boolean', 'ID', 'BigInt', 'JSON'] as const
export type RowScalar = (typeof rowScalars)[number]

/** One field of a row. It may always be null. */
interface RowField {
  readonly name: string
  readonly scalar: RowScalar
  /** A list of `scalar` instead of one. */
  readonly list: boolean
  /** Marked `@index`: filters on it do not read all rows. */
  readonly index: boolean
  readonly description: string
}

/**
 * How documents are fed to a lens: all of a block and then the end of the stream, or each followed by an end of
 * the stream.
 */
export type Feed = 'stream' | 'single'

/** The type of a View's rows, which is also its name. */
export interface RowType {
  readonly name: string
  readonly description: string
  /** `@materialized(if:)`; true without it. */
  readonly materialized: boolean
  /** `feed: stream` or `feed: single` on a line of its own in the description; null where lenses are asked. */
  readonly feed: Feed | null
  readonly fields: readonly RowField[]
}

/** @throws ServiceError `VIEWS_SDL_INVALID` with the place and what is accepted there. */
export function parseRowType(sdl: string): RowType {
  const node = onlyType(parseText('SDL', sdl))
  checkName(node)
  const description = node.description?.value ?? ''
  const fields = (node.fields ?? []).map(toField)
  if (fields.length === 0) throw wrongNode('SDL', node, 'the type has no field', 'Give it one.')
  checkDoubled(node)
  checkCount(node)
  return {
    name: node.name.value,
    description,
    materialized: isMaterialized(node),
    feed: feedOf(node, description),
    fields,
  }
}

/**
 * The name under which the registry chain lists a View: the first that follows `type` at the start of a line, in
 * a description as well. Null where there is none, and then it refuses the View.
 */
export function registryName(sdl: string): string | null {
  return /^[ \t]*type[ \t]+([A-Za-z0-9_]+)\b/m.exec(sdl)?.[1] ?? null
}

function onlyType([first, second]: readonly DefinitionNode[]): ObjectTypeDefinitionNode {
  const oneType = 'Write one type; rows hold scalars, lists of them, and JSON for everything else.'
  if (second !== undefined) throw wrongNode('SDL', second, 'something follows the type', oneType)
  invariant(first !== undefined, 'graphql-js parses no empty document')
  if (first.kind !== Kind.OBJECT_TYPE_DEFINITION)
    throw wrongNode('SDL', first, 'this is not a type', oneType)
  if (first.interfaces?.[0] !== undefined)
    throw wrongNode(
      'SDL',
      first.interfaces[0],
      'the type implements an interface',
      'Leave that out.',
    )
  return first
}

/** Letters of a name: more than any has a use for, and few enough to be compared with others. */
const maxNameLength = 128

function checkLength(name: NameNode): void {
  if (name.value.length > maxNameLength)
    throw wrongNode(
      'SDL',
      name,
      `the name ${name.value} has more than ${maxNameLength} letters`,
      'Choose a shorter one.',
    )
}

function checkName({ name }: ObjectTypeDefinitionNode): void {
  const { value } = name
  checkLength(name)
  if (isReservedTypeName(value))
    throw wrongNode('SDL', name, `the name ${value} is taken`, 'Choose another name for the type.')
  if (value.includes('__') || value.startsWith('_'))
    throw wrongNode(
      'SDL',
      name,
      `the name ${value} looks like one of ours`,
      'Begin it with a letter, and leave out double underscores.',
    )
}

/** Fields are named in arguments by values of an enum, which cannot have these names (GraphQL, section 3.9). */
const literals: ReadonlySet<string> = new Set(['true', 'false', 'null'])

function toField(node: FieldDefinitionNode): RowField {
  const { name, arguments: args = [], type } = node
  const { value } = name
  checkLength(name)
  if (args[0] !== undefined)
    throw wrongNode(
      'SDL',
      args[0],
      `the field ${value} has arguments`,
      'Leave them out: rows hold values.',
    )
  if (value.startsWith('_') || reservedFieldNames.has(value) || literals.has(value))
    throw wrongNode(
      'SDL',
      name,
      `the name ${value} has a meaning of its own`,
      `Choose one that does not begin with an underscore, and none of ${[...reservedFieldNames, ...literals].join(', ')}.`,
    )
  const { scalar, list } = typeOf(value, type)
  const index = isIndexed(node)
  if (index && scalar === 'JSON')
    throw wrongNode(
      'SDL',
      node,
      `the field ${value} is JSON, which has no index`,
      'Leave @index out.',
    )
  return { name: value, scalar, list, index, description: node.description?.value ?? '' }
}

function typeOf(field: string, type: TypeNode): { scalar: RowScalar; list: boolean } {
  const list = type.kind === Kind.LIST_TYPE
  const element = list ? type.type : type
  const named = element.kind === Kind.NAMED_TYPE ? element.name.value : null
  const scalar = rowScalars.find((each) => each === named)
  if (scalar !== undefined) return { scalar, list }
  throw wrongNode(
    'SDL',
    type,
    `the field ${field} has the type ${print(type)}`,
    `Accepted are ${rowScalars.join(', ')} and lists of them; any value may be null, so no type ends with "!".`,
  )
}

function isIndexed({ directives = [], name }: FieldDefinitionNode): boolean {
  const [directive, second] = directives
  if (second !== undefined)
    throw wrongNode(
      'SDL',
      second,
      `the field ${name.value} has two directives`,
      'Accepted is @index.',
    )
  if (directive === undefined) return false
  if (directive.name.value === 'index' && (directive.arguments ?? []).length === 0) return true
  throw wrongNode(
    'SDL',
    directive,
    `the field ${name.value} has ${print(directive)}`,
    'Accepted on a field is @index, without arguments.',
  )
}

function isMaterialized({ directives = [] }: ObjectTypeDefinitionNode): boolean {
  const [directive, second] = directives
  if (directive === undefined) return true
  const value = directive.name.value === 'materialized' ? condition(directive) : null
  const wrong = value === null ? directive : second
  if (wrong !== undefined)
    throw wrongNode(
      'SDL',
      wrong,
      `the type has ${print(wrong)}`,
      'Accepted on the type is @materialized(if: true) or @materialized(if: false), once.',
    )
  return value === true
}

function condition({ arguments: args = [] }: DirectiveNode): boolean | null {
  const [argument, second] = args
  if (argument === undefined) return true
  const isCondition = argument.name.value === 'if' && second === undefined
  return isCondition && argument.value.kind === Kind.BOOLEAN ? argument.value.value : null
}

const feedLabel = 'feed:'

/** Without a regular expression: one that trims goes over long spaces again and again. */
function feedOf(node: ObjectTypeDefinitionNode, description: string): Feed | null {
  const lines = description
    .split('\n')
    .map((line) => line.trim())
    .flatMap((line) => (line.startsWith(feedLabel) ? line.slice(feedLabel.length).trim() : []))
  const [feed] = lines
  if (feed === undefined) return null
  if (lines.length === 1 && (feed === 'stream' || feed === 'single')) return feed
  throw wrongNode(
    'SDL',
    node,
    `the description has the line "feed: ${lines.at(-1)}"`,
    'Accepted is one line: feed: stream, or feed: single.',
  )
}

/** Types for filters and orders are made of every field of every View, while others wait. */
const maxFields = 256

function checkCount({ fields = [] }: ObjectTypeDefinitionNode): void {
  const surplus = fields[maxFields]
  if (surplus === undefined) return
  throw wrongNode(
    'SDL',
    surplus,
    `this is field ${maxFields + 1}`,
    `Accepted are at most ${maxFields}; put what nobody filters by into one field of type JSON.`,
  )
}

function checkDoubled({ fields = [] }: ObjectTypeDefinitionNode): void {
  const seen = new Set<string>()
  for (const { name } of fields) {
    if (seen.has(name.value))
      throw wrongNode('SDL', name, `there are two fields ${name.value}`, 'Keep one of them.')
    seen.add(name.value)
  }
}
