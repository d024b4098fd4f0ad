/**
 * What one request may ask for and use up, and the errors that say what to change.
 */
import { type ASTNode, GraphQLError } from 'graphql'
import type { ErrorCode } from '../errors.ts'

/** Bounds of one request. */
export interface Limits {
  /** Nested selection sets; `{ Block { number } }` has two. */
  readonly maxDepth: number
  /** Documents looked at: read, compared with a filter, counted or hashed. */
  readonly maxCost: number
  /** Documents in all lists of the answer together. */
  readonly maxRows: number
  /** Bytes of the answer's JSON. */
  readonly maxResultBytes: number
  /** Wall time. */
  readonly maxMs: number
}

/** The limits a program starts from. */
export const defaultLimits: Limits = {
  maxDepth: 15,
  maxCost: 2_000_000,
  maxRows: 10_000,
  maxResultBytes: 64 * 1024 * 1024,
  maxMs: 20_000,
}

/** Lexical tokens of a query; long `_in` lists are what needs many. */
export const maxTokens = 10_000
/** Brackets and braces open at once in a query, and levels of its variables. */
export const maxNesting = 64
/** Fields of a query as written, and again after its fragments are spread. */
export const maxSelections = 1_000
/** Fragments of a query, and fields of one name in one selection; each is compared with each. */
export const maxFragments = 50
export const maxSameFields = 20
/** Documents and running aggregates held at once to group or sort. */
export const maxHeldRows = 200_000

/** A refusal with a stable code; the message says what happened, then what to do. */
export function refusal(
  code: ErrorCode,
  message: string,
  remedy: string,
  nodes?: ASTNode | readonly ASTNode[],
): GraphQLError {
  const extensions = { code }
  const text = `${message} ${remedy}`
  return new GraphQLError(text, nodes === undefined ? { extensions } : { nodes, extensions })
}
