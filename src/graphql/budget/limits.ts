/**
 * What one request may ask for and use up, what all of them may hold together, and the errors that
 * say what to change.
 */
import { type ASTNode, GraphQLError } from 'graphql'
import type { ErrorCode } from '../../errors.ts'

/** Bounds of one request, and of the memory that all requests share. */
export interface QueryLimits {
  /** Nested selection sets; `{ Block { number } }` has two. */
  readonly maxDepth: number
  /** Names and objects in all filters, orders and selectors, once for each place where a variable stands. */
  readonly maxConditions: number
  /**
   * Documents read, compared with a filter, counted or hashed. One counts again for every
   * `comparisonsPerDocument` conditions and keys that it is compared with.
   */
  readonly maxCost: number
  /** Documents in all lists of the answer together. */
  readonly maxRows: number
  /** Bytes of the answer's JSON. */
  readonly maxResultBytes: number
  /** Wall time. */
  readonly maxMs: number
  /** Bytes that all requests hold together: their bodies, what is kept to answer them, unread answers. */
  readonly maxHeldBytes: number
  /** The settings by which an operator sets some of them, which refusals name. Default: nobody sets them. */
  readonly settings?: LimitSettings
}

interface LimitSettings {
  readonly maxConditions: string
  readonly maxRows: string
  readonly maxHeldBytes: string
}

/** The limits a program starts from. */
export const defaultQueryLimits: QueryLimits = {
  maxDepth: 15,
  maxConditions: 2_000,
  maxCost: 2_000_000,
  maxRows: 10_000,
  maxResultBytes: 64 * 1024 * 1024,
  maxMs: 20_000,
  maxHeldBytes: 256 * 1024 * 1024,
}

/** Values and brackets of a body: some 10 ms to make objects of. */
export const maxBodyParts = 150_000
/** Lexical tokens of a query; long `_in` lists are what needs many. */
export const maxTokens = 10_000
/** Lines of a query; comments go to the end of one, so they are bounded as well. */
export const maxLines = 10_000
/** Characters of a name in a query. */
export const maxNameLength = 256
/** Brackets and braces open at once in a query, and levels of its variables. */
export const maxNesting = 64
/** Fields of a query as written, and again after its fragments are spread. */
export const maxSelections = 1_000
/** Fragments of a query, and fields of one name in one selection. */
export const maxFragments = 50
export const maxSameFields = 20
/** Fields and spreads of all operations with their fragments spread, before fields of one key are merged. */
export const maxSpreadFields = 20_000
/** Pairs of fields with one response key, through all fragments; validation compares each. */
export const maxFieldPairs = 20_000
/** Values in lists and variables, once for each place where a variable stands; long text counts again for every `charactersPerValue`. */
export const maxValues = 50_000
export const charactersPerValue = 100
/** Characters between the two % of a pattern. Finding longer texts takes V8 their length for each character searched. */
export const maxPatternLength = 200
/** Keys of an order; each is read from every row that is sorted. */
export const maxOrderKeys = 16
/** Conditions and keys that are included in the cost of one document. */
export const comparisonsPerDocument = 8
/** Comparisons that one row may take with everything linked to it: some 50 ms, in which no other request runs. */
export const maxRowComparisons = 250_000
/** Bytes of one object of an answer without those below it; it is written without yielding. */
export const maxObjectBytes: number = 16 * 1024 * 1024
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

/** The end of a remedy: which setting sets the limit, where there is one. */
export function operatorSets(
  { settings }: Pick<QueryLimits, 'settings'>,
  limit: keyof LimitSettings,
  before = '; ',
): string {
  return settings === undefined ? '.' : `${before}the operator sets ${settings[limit]}.`
}

/** What to say when a query has too many fields, as written or with its fragments spread. */
export const tooManySelections = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query selects more than ${maxSelections} fields.`,
    'Ask for several documents in one field by `_in`, or split the query.',
  )
