/** What one query may take, and all of them together, as docs/graphql.md has it. */
import {
  charactersPerValue,
  comparisonsPerDocument,
  defaultQueryLimits,
  maxBodyParts,
  maxFieldPairs,
  maxFragments,
  maxHeldRows,
  maxLines,
  maxNameLength,
  maxNesting,
  maxObjectBytes,
  maxOrderKeys,
  maxPatternLength,
  maxRowComparisons,
  maxSameFields,
  maxSelections,
  maxSpreadFields,
  maxTokens,
  maxValues,
} from '../../src/graphql/budget/limits.ts'
import { defaultMaxBodyBytes, defaultMaxStallMs, retryAfter } from '../../src/graphql/http/route.ts'
import { maxKeptBytes } from '../../src/graphql/plan/plan-cache.ts'

/** What bounds the heap of a Host, and the resident memory it then stays below, whatever it is asked. */
export const hostHeapOption = '--max-old-space-size=1024'
export const hostResidentBytes: number = 1.5 * 1024 ** 3

const number = (value: number): string => value.toLocaleString('en')
const mebibytes = (bytes: number): string => `${bytes / 1024 / 1024} MiB`

type Row = readonly [what: string, most: string, setting: string, code: string]

const text: readonly Row[] = [
  [
    'Body',
    `${mebibytes(defaultMaxBodyBytes)}, ${number(maxBodyParts)} values and brackets`,
    '',
    'status 413, `GRAPHQL_SYNTAX_LIMIT`',
  ],
  [
    'Text of a query',
    `${number(maxTokens)} tokens, ${number(maxLines)} lines, names of ${maxNameLength} characters, ${maxNesting} brackets open at once, ${maxFragments} fragments`,
    '',
    '`GRAPHQL_SYNTAX_LIMIT`',
  ],
  [
    'Fields',
    `${number(maxSelections)} as written and again with fragments spread, ${maxSameFields} of one name in one place, ${number(maxFieldPairs)} pairs of one name and ${number(maxSpreadFields)} of all operations through fragments`,
    '',
    '`GRAPHQL_SYNTAX_LIMIT`',
  ],
  [
    'Levels of selections',
    number(defaultQueryLimits.maxDepth),
    '`GRAPHQL_MAX_DEPTH`',
    '`GRAPHQL_DEPTH_LIMIT`',
  ],
]

const args: readonly Row[] = [
  [
    'Conditions: names and objects in filters, orders and selectors',
    number(defaultQueryLimits.maxConditions),
    '`GRAPHQL_MAX_CONDITIONS`',
    '`GRAPHQL_SYNTAX_LIMIT`',
  ],
  [
    `Values in lists and variables; a text counts for every ${charactersPerValue} characters`,
    number(maxValues),
    '',
    '`GRAPHQL_SYNTAX_LIMIT`',
  ],
  ['Levels of variables', number(maxNesting), '', '`GRAPHQL_SYNTAX_LIMIT`'],
  ['Different keys of an order', number(maxOrderKeys), '', '`GRAPHQL_SYNTAX_LIMIT`'],
  [
    'Characters between the two % of a pattern',
    number(maxPatternLength),
    '',
    '`GRAPHQL_SYNTAX_LIMIT`',
  ],
]

const work: readonly Row[] = [
  [
    `Documents looked at; one counts again for every ${comparisonsPerDocument} conditions and keys`,
    number(defaultQueryLimits.maxCost),
    '`GRAPHQL_MAX_COST`',
    '`GRAPHQL_COST_LIMIT`',
  ],
  [
    'Comparisons for one row with all that hangs on it',
    number(maxRowComparisons),
    '',
    '`GRAPHQL_COST_LIMIT`',
  ],
  [
    'Rows in all lists of the answer',
    number(defaultQueryLimits.maxRows),
    '`GRAPHQL_MAX_ROWS`',
    '`GRAPHQL_ROW_LIMIT`',
  ],
  ['Rows that a sorted list is followed', 'twice as many', '', '`GRAPHQL_ROW_LIMIT`'],
  ['Documents and running aggregates of groups', number(maxHeldRows), '', '`GRAPHQL_ROW_LIMIT`'],
  [
    'Bytes of an object without those below it',
    mebibytes(maxObjectBytes),
    '',
    '`GRAPHQL_SIZE_LIMIT`',
  ],
  [
    'Bytes of the answer',
    mebibytes(defaultQueryLimits.maxResultBytes),
    '`GRAPHQL_MAX_RESULT_BYTES`',
    '`GRAPHQL_SIZE_LIMIT`',
  ],
  [
    'Time, waiting for others included',
    `${defaultQueryLimits.maxMs / 1000} s`,
    '`GRAPHQL_MAX_MS`',
    '`GRAPHQL_TIME_LIMIT`',
  ],
  ['Memory of one query', 'half of that of all', '', '`GRAPHQL_SIZE_LIMIT`'],
]

const together: readonly Row[] = [
  [
    'Memory of all queries: what they sent, what is kept to answer them, answers that were not read',
    mebibytes(defaultQueryLimits.maxHeldBytes),
    '`GRAPHQL_MAX_HELD_BYTES`',
    `\`GRAPHQL_BUSY\`, status 503, \`Retry-After: ${retryAfter}\``,
  ],
  [
    'Queries and plans that are kept for the next time',
    mebibytes(maxKeptBytes),
    '',
    'the oldest are forgotten',
  ],
  [
    'Time in which a client takes less than 32 KiB a second of what waits for it',
    `${defaultMaxStallMs / 1000} s`,
    '',
    'it is cut off',
  ],
]

/** The limits with their defaults, in the order in which a request meets them. */
export function queryLimitsTable(): string {
  const rows = [...text, ...args, ...work, ...together].map((cells) => `| ${cells.join(' | ')} |`)
  const head = ['| What | At most | Setting | Above it |', '| --- | --- | --- | --- |']
  const figure = `A Host with these limits and a heap of 1 GiB (\`NODE_OPTIONS=${hostHeapOption}\`) has less than
${hostResidentBytes / 1024 ** 3} GiB of resident memory, whatever it is asked and by however many at once. With the heap that Node chooses by
itself it may take more before Node clears up.`
  return [...head, ...rows, '', figure].join('\n')
}
