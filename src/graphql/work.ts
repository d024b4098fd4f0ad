/**
 * The meter of one request: counts what it uses up while it runs, refuses at the limit, and says
 * when it is time to let others have a turn.
 */
import {
  charactersPerValue,
  comparisonsPerDocument,
  type Limits,
  maxHeldRows,
  maxObjectBytes,
  maxRowComparisons,
  maxValues,
  refusal,
} from './limits.ts'
import type { Hold } from './memory.ts'
import { sliceMs, type Turns } from './turns.ts'

/** Looking at the clock costs as much as looking at a small document, so only now and then. */
const clockInterval = 32
/** Bytes of an answer that take as long as a small document, as a power of two. */
const bytesAsDocument = 8

/** What a request has used up. */
export interface Usage {
  /** Documents looked at, and again those that are compared with much. */
  readonly cost: number
  /** Documents in the answer's lists. */
  readonly rows: number
  /** Bytes of the answer. */
  readonly bytes: number
  readonly elapsedMs: number
}

/** Counts one request's work. Every method but those that only tell throws GraphQLError at the limit. */
export interface Work {
  /** Rows the answer may have. */
  readonly maxRows: number
  usage(): Usage
  /** Names and objects of arguments, their values, and texts of them by length. */
  addConditions(count: number): void
  addValues(count: number): void
  /** Documents that are about to be looked at, each compared with so many conditions and keys. */
  look(documents: number, comparisons?: number): void
  /** Comparisons inside one row beside those it was looked at with, such as of long texts and lists. */
  compare(count: number): void
  /** Rows that are about to be added to the answer. */
  addRows(count: number): void
  /** Bytes of the answer, which stay held until it was read. */
  addBytes(count: number): void
  /** Checks the size of one object of the answer while it is written. */
  checkObject(bytes: number): void
  /** Checks how much grouping holds: rows and running aggregates. */
  hold(things: number): void
  /** Checks how many rows a sort keeps, from the first to the last one wanted. */
  holdSorted(rows: number): void
  /** Begins an account of memory that is kept for a while, at most until the request is answered. */
  keeping(): Keeping
  /** Ends all accounts; without an answer its bytes are let go of as well. */
  end(isAnswered: boolean): void
  /** True when the slice is used up: `if (work.isDue()) await work.turn()`. Asked between rows. */
  isDue(): boolean
  turn(): Promise<void>
  /** Between two steps that cannot be divided: lets others have a turn when the slice is used up. */
  pause(): Promise<void>
}

/** Memory that is kept to answer a request. */
export interface Keeping {
  /** So many bytes more, or fewer where it is negative. */
  add(bytes: number): void
  /** Lets go of all of them. */
  end(): void
}

/** What a meter works with. */
export interface WorkParts {
  readonly turns: Turns
  readonly hold: Hold
  readonly signal: AbortSignal | undefined
}

/** A fresh meter; the clock starts now. */
export function createWork(limits: Limits, { turns, hold, signal }: WorkParts): Work {
  const startedAt = performance.now()
  let sliceAt = startedAt
  /** What was done since the clock was looked at, and since a row was begun. */
  let untimed = 0
  let inRow = 0
  let [conditions, values, cost, rows, bytes, kept] = [0, 0, 0, 0, 0, 0]
  const check = (): void => {
    if (signal?.aborted === true) throw aborted()
    if (performance.now() - startedAt > limits.maxMs) throw tooLong(limits)
  }
  const isSliceOver = (): boolean => performance.now() - sliceAt > sliceMs
  const turn = async (): Promise<void> => {
    check()
    await turns.next()
    check()
    sliceAt = performance.now()
  }
  return {
    maxRows: limits.maxRows,
    usage: () => ({ cost, rows, bytes, elapsedMs: performance.now() - startedAt }),
    addConditions(count) {
      conditions += count
      if (conditions > limits.maxConditions) throw tooManyConditions(limits)
    },
    addValues(count) {
      values += count
      if (values > maxValues) throw tooManyValues()
    },
    look(documents, comparisons = 1) {
      const isUsual = comparisons <= comparisonsPerDocument
      cost += isUsual ? documents : documents * Math.ceil(comparisons / comparisonsPerDocument)
      untimed += documents * comparisons
      inRow += documents * comparisons
      if (cost > limits.maxCost) throw tooCostly(limits)
      if (inRow > maxRowComparisons) throw tooMuchInRow()
    },
    compare(count) {
      untimed += count
      inRow += count
      if (inRow > maxRowComparisons) throw tooMuchInRow()
    },
    addRows(count) {
      rows += count
      if (rows > limits.maxRows) throw tooManyRows(limits)
    },
    addBytes(count) {
      if (bytes + count > limits.maxResultBytes) throw tooLarge(limits)
      hold.take(count)
      bytes += count
      untimed += count >> bytesAsDocument
    },
    checkObject(own) {
      if (own > maxObjectBytes) throw tooLargeObject()
      if (bytes + own > limits.maxResultBytes) throw tooLarge(limits)
    },
    hold(held) {
      if (held > maxHeldRows) throw tooManyHeld()
    },
    holdSorted(rowsKept) {
      if (rowsKept > 2 * limits.maxRows + 1) throw tooFarSorted(limits)
    },
    keeping() {
      let own = 0
      const add = (count: number): void => {
        if (count > 0) hold.take(count)
        else hold.give(-count)
        own += count
        kept += count
      }
      return { add, end: () => add(-own) }
    },
    end: (isAnswered) => hold.give(isAnswered ? kept : kept + bytes),
    isDue() {
      inRow = 0
      if (++untimed < clockInterval) return false
      untimed = 0
      return isSliceOver()
    },
    turn,
    async pause() {
      inRow = 0
      if (isSliceOver()) await turn()
    },
  }
}

const aborted = (): Error =>
  refusal('GRAPHQL_ABORTED', 'The client went away.', 'Ask again to get an answer.')

/** What to say when filters have too many conditions, in the text or in variables. */
export const tooManyConditions = ({ maxConditions }: Pick<Limits, 'maxConditions'>): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query has more than ${maxConditions} conditions: names and objects in filters, orders and selectors, those of a variable once for each place where it stands.`,
    '`_in` stands for many `_or`; ask in several requests, or the operator sets GRAPHQL_MAX_CONDITIONS.',
  )

/** What to say when lists have too many values, in the text or in variables. */
export const tooManyValues = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query has more than ${maxValues} values in lists and variables, once for each place where they stand; a text counts for every ${charactersPerValue} characters.`,
    'Ask for parts of long lists in several requests.',
  )

const tooLong = (limits: Limits): Error =>
  refusal(
    'GRAPHQL_TIME_LIMIT',
    `The query takes longer than ${limits.maxMs} ms.`,
    'Narrow the range of blocks, filter on an indexed field (number, hash, from, to, address, topics), or ask for fewer documents.',
  )

const tooCostly = (limits: Limits): Error =>
  refusal(
    'GRAPHQL_COST_LIMIT',
    `The query looks at more than ${limits.maxCost} documents; one counts again for every ${comparisonsPerDocument} conditions and keys that it is compared with.`,
    'Narrow the range of blocks, filter on an indexed field (number, hash, from, to, address, topics), or order by block number with a limit.',
  )

const tooMuchInRow = (): Error =>
  refusal(
    'GRAPHQL_COST_LIMIT',
    `A single row, with what hangs on it, takes more than ${maxRowComparisons} comparisons.`,
    'Ask for the documents below it by a query of their own, or use fewer conditions and aggregates.',
  )

const tooManyRows = (limits: Limits): Error =>
  refusal(
    'GRAPHQL_ROW_LIMIT',
    `The answer has more than ${limits.maxRows} rows.`,
    'Set a smaller `limit` (0 means none), also on nested lists, and page with `offset` or a range of block numbers; the operator sets GRAPHQL_MAX_ROWS.',
  )

const tooLarge = (limits: Limits): Error =>
  refusal(
    'GRAPHQL_SIZE_LIMIT',
    `The answer is larger than ${limits.maxResultBytes} bytes.`,
    'Select fewer fields (input, data and logsBloom are the largest) or set a smaller `limit`.',
  )

const tooLargeObject = (): Error =>
  refusal(
    'GRAPHQL_SIZE_LIMIT',
    `One object of the answer is larger than ${maxObjectBytes} bytes, without those below it.`,
    'Select each field once; input, data, logsBloom and delta are the largest.',
  )

const tooManyHeld = (): Error =>
  refusal(
    'GRAPHQL_ROW_LIMIT',
    `The query must hold more than ${maxHeldRows} documents and running aggregates at once to group them.`,
    'Narrow the range of blocks, group by fewer or coarser fields, or ask for fewer aggregates.',
  )

const tooFarSorted = (limits: Limits): Error =>
  refusal(
    'GRAPHQL_ROW_LIMIT',
    `The query asks for rows beyond number ${2 * limits.maxRows} of a sorted list.`,
    'Set a smaller `offset`, filter from the last value of the page before, or order by block number.',
  )
