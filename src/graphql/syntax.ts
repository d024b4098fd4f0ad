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
import {
  maxFragments,
  maxNesting,
  maxSameFields,
  maxSelections,
  maxTokens,
  refusal,
} from './limits.ts'

const opening: ReadonlySet<string> = new Set([
  TokenKind.BRACE_L,
  TokenKind.BRACKET_L,
  TokenKind.PAREN_L,
])
const closing: ReadonlySet<string> = new Set([
  TokenKind.BRACE_R,
  TokenKind.BRACKET_R,
  TokenKind.PAREN_R,
])

/** Parses a query. Throws GraphQLError with the place of the mistake. */
export function parseQuery(text: string): DocumentNode {
  checkTokens(text)
  const document = parse(text, { maxTokens })
  checkSelections(document)
  return document
}

/** The parser recurses for every bracket, so their depth is bounded before it runs. */
function checkTokens(text: string): void {
  const lexer = new Lexer(new Source(text))
  let depth = 0
  for (let count = 0; lexer.advance().kind !== TokenKind.EOF; count++) {
    const { kind } = lexer.token
    if (opening.has(kind)) depth++
    if (closing.has(kind)) depth--
    if (depth > maxNesting) throw tooNested()
    if (count >= maxTokens) throw tooManyTokens()
  }
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

/** What to say when a query has too many fields, as written or with its fragments spread. */
export const tooManySelections = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query selects more than ${maxSelections} fields.`,
    'Ask for several documents in one field by `_in`, or split the query.',
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
