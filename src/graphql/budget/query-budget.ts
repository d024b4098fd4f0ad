/**
 * The budget of one request: it counts what the request uses up, refuses at the limit, and shares the
 * thread. A request that has run for a time slice queues up again, and one turn of the event loop
 * resumes one request, so that health checks, gossip and short queries get through however many long
 * queries there are.
 */
import {
  charactersPerValue,
  comparisonsPerDocument,
  maxHeldRows,
  maxObjectBytes,
  maxRowComparisons,
  maxValues,
  operatorSets,
  type QueryLimits,
  refusal,
} from './limits.ts'
import type { MemoryAccount } from './memory-pool.ts'

/** Reading the clock costs as much as reading a small document, so it is read only now and then. */
const clockInterval = 32
/** Bytes of an answer that take as long as a small document, as a power of two. */
const bytesAsDocument = 8

/** What a request has used up. */
export interface Usage {
  /** Documents read, counted again where they are compared with much. */
  readonly cost: number
  /** Documents in the answer's lists. */
  readonly rows: number
  /** Bytes of the answer. */
  readonly bytes: number
  readonly elapsedMs: number
}

/** Counts what one request uses up. Its methods throw GraphQLError at the limit, except for those that only report. */
export interface QueryBudget {
  /** Rows the answer may have. */
  readonly maxRows: number
  /** Aborted where the client goes away. */
  readonly signal: AbortSignal | undefined
  /** What is left of the request's time, not below 0. */
  leftMs(): number
  usage(): Usage
  /** Names and objects of arguments, their values, and texts of them by length. */
  addConditions(count: number): void
  addValues(count: number): void
  /** Documents that are about to be read, each compared with so many conditions and keys. */
  countDocuments(documents: number, comparisons?: number): void
  /** Comparisons inside one row beside those it was counted with, such as of long texts and lists. */
  countComparisons(count: number): void
  /** Rows that are about to be added to the answer. */
  addRows(count: number): void
  /** Bytes of the answer, which stay reserved until it was sent. */
  addBytes(count: number): void
  /** Checks the size of one object of the answer while it is written. */
  checkObject(bytes: number): void
  /** Checks how much grouping holds: rows and running aggregates. */
  checkHeld(things: number): void
  /** Checks how many rows a sort keeps, from the first to the last one wanted. */
  checkSorted(rows: number): void
  /** Reserves memory that is kept for a while, at most until the request is answered. */
  openReservation(): MemoryReservation
  /** Releases all reservations, and without an answer its bytes as well. */
  end(isAnswered: boolean): void
  /** Whether the time slice is used up: `if (budget.shouldYield()) await budget.yieldThread()` between rows. */
  shouldYield(): boolean
  /** Lets other requests run, then begins the next slice. */
  yieldThread(): Promise<void>
  /** The same between two steps that cannot be divided, if the slice is used up. */
  yieldIfDue(): Promise<void>
}

/** Memory that is kept to answer a request. */
export interface MemoryReservation {
  /** So many bytes more, or fewer where it is negative. */
  add(bytes: number): void
  /** Releases all of them. */
  release(): void
}

interface QueryBudgetParts {
  readonly scheduler: QueryScheduler
  readonly account: MemoryAccount
  readonly signal: AbortSignal | undefined
}

/** A budget of which nothing is used up; the clock starts now. */
export function createQueryBudget(limits: QueryLimits, parts: QueryBudgetParts): QueryBudget {
  const { account } = parts
  const clock = startClock(limits, parts)
  /** What was counted since the clock was read, and since a row was begun. */
  let untimed = 0
  let inRow = 0
  let [conditions, values, cost, rows, bytes, reserved] = [0, 0, 0, 0, 0, 0]
  return {
    maxRows: limits.maxRows,
    signal: parts.signal,
    leftMs: () => Math.max(0, limits.maxMs - clock.elapsedMs()),
    usage: () => ({ cost, rows, bytes, elapsedMs: clock.elapsedMs() }),
    addConditions(count) {
      conditions += count
      if (conditions > limits.maxConditions) throw tooManyConditions(limits)
    },
    addValues(count) {
      values += count
      if (values > maxValues) throw tooManyValues()
    },
    countDocuments(documents, comparisons = 1) {
      const isUsual = comparisons <= comparisonsPerDocument
      cost += isUsual ? documents : documents * Math.ceil(comparisons / comparisonsPerDocument)
      untimed += documents * comparisons
      inRow += documents * comparisons
      if (cost > limits.maxCost) throw tooCostly(limits)
      if (inRow > maxRowComparisons) throw tooMuchInRow()
    },
    countComparisons(count) {
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
      account.reserve(count)
      bytes += count
      untimed += count >> bytesAsDocument
    },
    checkObject(own) {
      if (own > maxObjectBytes) throw tooLargeObject()
      if (bytes + own > limits.maxResultBytes) throw tooLarge(limits)
    },
    checkHeld(held) {
      if (held > maxHeldRows) throw tooManyHeld()
    },
    checkSorted(kept) {
      if (kept > 2 * limits.maxRows + 1) throw tooFarSorted(limits)
    },
    openReservation: () =>
      createReservation(account, (change) => {
        reserved += change
      }),
    end: (isAnswered) => account.release(isAnswered ? reserved : reserved + bytes),
    shouldYield() {
      inRow = 0
      if (++untimed < clockInterval) return false
      untimed = 0
      return clock.isSliceOver()
    },
    yieldThread: clock.nextSlice,
    async yieldIfDue() {
      inRow = 0
      if (clock.isSliceOver()) await clock.nextSlice()
    },
  }
}

function createReservation(
  account: MemoryAccount,
  onChange: (bytes: number) => void,
): MemoryReservation {
  let own = 0
  const add = (bytes: number): void => {
    if (bytes > 0) account.reserve(bytes)
    else account.release(-bytes)
    own += bytes
    onChange(bytes)
  }
  return { add, release: () => add(-own) }
}

/** The time of one request and of its current slice. */
interface RequestClock {
  elapsedMs(): number
  isSliceOver(): boolean
  /** Throws GraphQLError where the request takes too long or its client went away, also meanwhile. */
  nextSlice(): Promise<void>
}

function startClock(
  limits: QueryLimits,
  { scheduler, signal }: Pick<QueryBudgetParts, 'scheduler' | 'signal'>,
): RequestClock {
  const startedAt = performance.now()
  let sliceAt = startedAt
  const check = (): void => {
    if (signal?.aborted === true) throw aborted()
    if (performance.now() - startedAt > limits.maxMs) throw tooLong(limits)
  }
  return {
    elapsedMs: () => performance.now() - startedAt,
    isSliceOver: () => performance.now() - sliceAt > sliceMs,
    async nextSlice() {
      check()
      await scheduler.nextTurn()
      check()
      sliceAt = performance.now()
    },
  }
}

const aborted = (): Error =>
  refusal('GRAPHQL_ABORTED', 'The client went away.', 'Ask again to get an answer.')

/** What to say when filters have too many conditions, in the text or in variables. */
export const tooManyConditions = (limits: Pick<QueryLimits, 'maxConditions' | 'settings'>): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query has more than ${limits.maxConditions} conditions: names and objects in filters, orders and selectors, those of a variable once for each place where it stands.`,
    `\`_in\` stands for many \`_or\`; ask in several requests${operatorSets(limits, 'maxConditions', ', or ')}`,
  )

/** What to say when lists have too many values, in the text or in variables. */
export const tooManyValues = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query has more than ${maxValues} values in lists and variables, once for each place where they stand; a text counts for every ${charactersPerValue} characters.`,
    'Ask for parts of long lists in several requests.',
  )

const tooLong = (limits: QueryLimits): Error =>
  refusal(
    'GRAPHQL_TIME_LIMIT',
    `The query takes longer than ${limits.maxMs} ms.`,
    'Narrow the range of blocks, filter on an indexed field (number, hash, from, to, address, topics), or ask for fewer documents.',
  )

const tooCostly = (limits: QueryLimits): Error =>
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

const tooManyRows = (limits: QueryLimits): Error =>
  refusal(
    'GRAPHQL_ROW_LIMIT',
    `The answer has more than ${limits.maxRows} rows.`,
    `Set a smaller \`limit\` (0 means none), also on nested lists, and page with \`offset\` or a range of block numbers${operatorSets(limits, 'maxRows')}`,
  )

const tooLarge = (limits: QueryLimits): Error =>
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

const tooFarSorted = (limits: QueryLimits): Error =>
  refusal(
    'GRAPHQL_ROW_LIMIT',
    `The query asks for rows beyond number ${2 * limits.maxRows} of a sorted list.`,
    'Set a smaller `offset`, filter from the last value of the page before, or order by block number.',
  )
/** How long a request may run before it lets others run. */
const sliceMs = 4

/** The queue of requests that wait to go on. */
export interface QueryScheduler {
  /** Whether a request waits; one that starts then should queue up as well. */
  isBusy(): boolean
  /** Resolves in a later turn of the event loop, after those who asked before. */
  nextTurn(): Promise<void>
}

/** An empty queue; one for each thread that executes queries. */
export function createQueryScheduler(): QueryScheduler {
  const waiting: (() => void)[] = []
  const resumeOne = (): void => {
    const resume = waiting.shift()
    if (waiting.length > 0) setImmediate(resumeOne)
    resume?.()
  }
  return {
    isBusy: () => waiting.length > 0,
    nextTurn: () =>
      new Promise((resolve) => {
        if (waiting.push(resolve) === 1) setImmediate(resumeOne)
      }),
  }
}
