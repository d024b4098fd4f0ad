/** Brackets of GraphQL: its parser recurses for each that is open, so that their depth is bounded before it runs. */
import { TokenKind } from 'graphql'

const steps: ReadonlyMap<string, 1 | -1> = new Map([
  [TokenKind.BRACE_L, 1],
  [TokenKind.BRACKET_L, 1],
  [TokenKind.PAREN_L, 1],
  [TokenKind.BRACE_R, -1],
  [TokenKind.BRACKET_R, -1],
  [TokenKind.PAREN_R, -1],
])

/** By how much a token of a kind changes the number of open brackets. */
export function bracketStep(kind: string): 1 | -1 | 0 {
  return steps.get(kind) ?? 0
}
