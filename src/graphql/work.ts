/**
 * The meter of one request: counts what it uses up while it runs, refuses at the limit, and says
 * when it is time to let others have a turn.
 */
import { type Limits, maxHeldRows, refusal } from './limits.ts'
import { sliceMs, type Turns } from './turns.ts'

/** Looking at the clock costs as much as looking at a small document, so only now and then. */
const clockInterval = 32

/** What a request has used up. */
export interface Usage {
  /** Documents looked at. */
  readonly cost: number
  /** Documents in the answer's lists. */
  readonly rows: number
  /** Bytes of the answer. */
  readonly bytes: number
  readonly elapsedMs: number
}

/** Counts one request's work. Every method throws GraphQLError at the limit. */
export interface Work {
  /** Rows the answer may have. */
  readonly maxRows: number
  usage(): Usage
  /** Documents that are about to be looked at. */
  look(documents: number): void
  /** Rows that are about to be added to the answer. */
  addRows(count: number): void
  addBytes(count: number): void
  /** Checks how much grouping holds: rows and running aggregates. */
  hold(things: number): void
  /** Checks how many rows a sort keeps, from the first to the last one wanted. */
  holdSorted(rows: number): void
  /** True when the slice is used up: `if (work.isDue()) await work.turn()`. */
  isDue(): boolean
  turn(): Promise<void>
  /** Between two steps that cannot be divided: lets others have a turn when the slice is used up. */
  pause(): Promise<void>
}

/** A fresh meter; the clock starts now. */
export function createWork(limits: Limits, turns: Turns, signal: AbortSignal | undefined): Work {
  const startedAt = performance.now()
  let sliceAt = startedAt
  let steps = 0
  let clockAt = 0
  let cost = 0
  let rows = 0
  let bytes = 0
  const check = (): void => {
    if (signal?.aborted === true) throw aborted()
    if (performance.now() - startedAt > limits.maxMs) throw tooLong(limits)
  }
  const turn = async (): Promise<void> => {
    check()
    await turns.next()
    check()
    sliceAt = performance.now()
  }
  return {
    maxRows: limits.maxRows,
    usage: () => ({ cost, rows, bytes, elapsedMs: performance.now() - startedAt }),
    look(documents) {
      cost += documents
      if (cost > limits.maxCost) throw tooCostly(limits)
    },
    addRows(count) {
      rows += count
      if (rows > limits.maxRows) throw tooManyRows(limits)
    },
    addBytes(count) {
      bytes += count
      if (bytes > limits.maxResultBytes) throw tooLarge(limits)
    },
    hold(held) {
      if (held > maxHeldRows) throw tooManyHeld()
    },
    holdSorted(rowsKept) {
      if (rowsKept > 2 * limits.maxRows + 1) throw tooFarSorted(limits)
    },
    isDue() {
      steps++
      if (cost + steps < clockAt) return false
      clockAt = cost + steps + clockInterval
      return performance.now() - sliceAt > sliceMs
    },
    turn,
    async pause() {
      if (performance.now() - sliceAt > sliceMs) await turn()
    },
  }
}

const aborted = (): Error =>
  refusal('GRAPHQL_ABORTED', 'The client went away.', 'Ask again to get an answer.')

const tooLong = (limits: Limits): Error =>
  refusal(
    'GRAPHQL_TIME_LIMIT',
    `The query takes longer than ${limits.maxMs} ms.`,
    'Narrow the range of blocks, filter on an indexed field (number, hash, from, to, address, topics), or ask for fewer documents.',
  )

const tooCostly = (limits: Limits): Error =>
  refusal(
    'GRAPHQL_COST_LIMIT',
    `The query looks at more than ${limits.maxCost} documents.`,
    'Narrow the range of blocks, filter on an indexed field (number, hash, from, to, address, topics), or order by block number with a limit.',
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
