/**
 * From query text to a document, within bounds that keep parsing and validation short: validation
 * compares fields with each other and walks every value.
 */
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  Lexer,
  parse,
  type SelectionSetNode,
  Source,
  TokenKind,
  visit,
} from 'graphql'
import { bracketStep } from '../../bracket-depth.ts'
import {
  maxFragments,
  maxLines,
  maxNameLength,
  maxNesting,
  maxSameFields,
  maxSelections,
  maxTokens,
  refusal,
  tooManySelections,
} from '../budget/limits.ts'
import { checkFieldPairs } from './field-pairs.ts'

/** A parsed query. */
interface ParsedQuery {
  readonly document: DocumentNode
  /** Memory that it takes, roughly. */
  readonly bytes: number
}

/** Memory of a token with what is made of it, and of a character of the text. */
const tokenBytes = 300
const characterBytes = 2

/** Parses a query. Throws GraphQLError with the location of a syntax error. */
export function parseQuery(text: string): ParsedQuery {
  checkLines(text)
  const tokens = checkTokens(text)
  const document = parse(text, { maxTokens })
  checkFields(document)
  return { document, bytes: tokens * tokenBytes + text.length * characterBytes }
}

/** Throws GraphQLError where a document selects more than can be validated in short time. */
export function checkFields(document: DocumentNode): void {
  checkSelections(document)
  checkFieldPairs(document)
}

const lineEnds = /\r\n|[\n\r]/g

/** The location of each error is found by scanning the lines, and a comment is no token. */
function checkLines(text: string): void {
  let lines = 1
  for (const _ of text.matchAll(lineEnds)) {
    lines++
    if (lines > maxLines) throw tooManyLines()
  }
}

/** Returns the number of tokens. */
function checkTokens(text: string): number {
  const lexer = new Lexer(new Source(text))
  let depth = 0
  let count = 0
  for (; lexer.advance().kind !== TokenKind.EOF; count++) {
    const { kind, start, end } = lexer.token
    depth += bracketStep(kind)
    if (depth > maxNesting) throw tooNested()
    if (count >= maxTokens) throw tooManyTokens()
    if (kind === TokenKind.NAME && end - start > maxNameLength) throw tooLongName()
  }
  return count
}

function checkSelections(document: DocumentNode): void {
  let count = 0
  let fragments = 0
  visit(document, {
    [Kind.FRAGMENT_DEFINITION]() {
      fragments++
      if (fragments > maxFragments) throw tooManyFragments()
    },
    [Kind.SELECTION_SET](node: SelectionSetNode) {
      count += node.selections.length
      if (count > maxSelections) throw tooManySelections()
      checkSameFields(node)
    },
    [Kind.ARGUMENT]: () => false,
    [Kind.VARIABLE_DEFINITION]: () => false,
  })
}

function checkSameFields({ selections }: SelectionSetNode): void {
  if (selections.length <= maxSameFields) return
  const counts = new Map<string, number>()
  for (const node of selections) {
    if (node.kind !== Kind.FIELD) continue
    const key = node.alias?.value ?? node.name.value
    const count = (counts.get(key) ?? 0) + 1
    if (count > maxSameFields) throw tooManySameFields(node)
    counts.set(key, count)
  }
}

const tooNested = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query has more than ${maxNesting} brackets open at once.`,
    'Flatten the filter: `_in` stands for many `_or`, and all conditions in one object must hold without `_and`.',
  )

const tooManyTokens = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query has more than ${maxTokens} tokens.`,
    'Split it, or pass long lists as variables.',
  )

const tooManyLines = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query has more than ${maxLines} lines.`,
    'Leave out comments and empty lines, or pass long lists as variables.',
  )

const tooLongName = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query has a name of more than ${maxNameLength} characters.`,
    'No field has such a name; choose shorter aliases, and write values in quotes.',
  )

const tooManyFragments = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query has more than ${maxFragments} fragments.`,
    'Write some of them out.',
  )

const tooManySameFields = (node: FieldNode): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query selects ${node.name.value} more than ${maxSameFields} times in one place.`,
    'Select it once, or give each an alias of its own.',
    node,
  )
