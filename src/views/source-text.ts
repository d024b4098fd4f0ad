/** GraphQL that a stranger wrote, parsed within bounds; what is wrong is reported with its place. */
import {
  type ASTNode,
  type DefinitionNode,
  GraphQLError,
  getLocation,
  Lexer,
  parse,
  Source,
  type SourceLocation,
  TokenKind,
} from 'graphql'
import { bracketStep } from '../bracket-depth.ts'
import { ServiceError } from '../errors.ts'

/** Which text of a View something is wrong with. */
type ViewText = 'query' | 'SDL'

/** Why a text is refused, and what a whole text looks like. */
const codes = { query: 'VIEWS_QUERY_INVALID', SDL: 'VIEWS_SDL_INVALID' } as const
const shown = { query: 'the query', SDL: 'the SDL' } as const

/** What a query stands in; its last line may be a comment. */
const before = '{'
const after = '\n}'

/** Brackets that may be open at once: the parser recurses for each, and no text of use has as many. */
const maxNesting = 32

/**
 * Parses a text; a query stands in braces that its author did not write.
 * @throws ServiceError of the text's code.
 */
export function parseText(of: ViewText, text: string): readonly DefinitionNode[] {
  const source = new Source(of === 'query' ? `${before}${text}${after}` : text, shown[of])
  try {
    checkNesting(of, source)
    return parse(source).definitions
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    throw wrongAt(
      of,
      source,
      error.positions?.[0],
      error.message.replace(/^Syntax Error: /, ''),
      accepted[of],
    )
  }
}

const accepted = {
  query: 'Write a selection without outer braces, as in Log { address topics data }.',
  SDL: 'Write one type, as in type Transfer { from: String to: String amount: BigInt }.',
} as const

/** What is wrong at a node, and what is accepted there. */
export function wrongNode(of: ViewText, node: ASTNode, what: string, remedy: string): ServiceError {
  return wrongAt(of, node.loc?.source, node.loc?.start, what, remedy)
}

/** Characters of what is wrong: it quotes names and types, which are as long as their author likes. */
const maxShown = 300

function wrongAt(
  of: ViewText,
  source: Source | undefined,
  position: number | undefined,
  what: string,
  remedy: string,
): ServiceError {
  const place =
    source === undefined || position === undefined ? undefined : placeOf(of, source, position)
  const where = place === undefined ? '' : `, line ${place.line}, column ${place.column}`
  const short = what.length > maxShown ? `${what.slice(0, maxShown - 1)}…` : what
  return new ServiceError(codes[of], `${shown[of]}${where}: ${short}`, {
    ...(place === undefined ? {} : { facts: { line: place.line, column: place.column } }),
    remedy,
  })
}

/** The place in what the author wrote; what is missing at the end is missing there. */
function placeOf(of: ViewText, { body }: Source, position: number): SourceLocation {
  const written = of === 'query' ? body.slice(before.length, -after.length) : body
  const start = of === 'query' ? position - before.length : position
  return getLocation(new Source(written), Math.min(Math.max(0, start), written.length))
}

function checkNesting(of: ViewText, source: Source): void {
  const lexer = new Lexer(source)
  let depth = 0
  while (lexer.advance().kind !== TokenKind.EOF) {
    const { kind, start } = lexer.token
    depth += bracketStep(kind)
    if (depth > maxNesting)
      throw wrongAt(
        of,
        source,
        start,
        `more than ${maxNesting} brackets are open at once`,
        accepted[of],
      )
  }
}
