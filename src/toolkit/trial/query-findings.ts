/** What lenses for logs miss of a query, as far as their rows and their failures show it. Pure. */
import { selectedNames, type ViewQuery } from '../../views/view-query.ts'
import type { ViewFinding } from './finding.ts'
import type { FieldCount } from './trial-job.ts'

/** What lenses for logs read of the transaction of a log. */
const transactionFields = ['hash', 'from', 'to']

interface QueryFacts {
  readonly query: ViewQuery
  readonly lenses: number
  readonly fields: readonly FieldCount[]
  readonly rows: number
}

/** A failure for want of a relation or of one of its fields, under the code that says what to change in the query. */
export function refineFinding(finding: ViewFinding, query: ViewQuery): ViewFinding {
  const wanted = missingField(finding.message)
  const transaction = selectedNames(query, 'transaction')
  const isFlat =
    finding.code === 'QUERY_MISSING_EVM_RELATION' &&
    wanted === 'transaction' &&
    selectedNames(query).includes('transactionHash')
  if (isFlat)
    return { ...finding, code: 'QUERY_FLAT_FIELD_INSTEAD_OF_RELATION', remedy: useRelation }
  const isOfTransaction =
    finding.code === 'QUERY_MISSING_EVM_FIELD' &&
    transaction.length > 0 &&
    transactionFields.some((name) => name === wanted && !transaction.includes(name))
  return isOfTransaction ? { ...finding, code: 'QUERY_MISSING_TRANSACTION_FIELD' } : finding
}

/** What explains fields without a value in rows of a View whose blocks all went well. */
export function queryFindings({ query, lenses, fields, rows }: QueryFacts): ViewFinding[] {
  if (query.collection !== 'Log' || lenses === 0 || rows === 0) return []
  const empty = fields.filter(({ values, wrongType }) => values + wrongType === 0)
  const selected = selectedNames(query, 'transaction')
  if (selected.length === 0) {
    const isFlat = selectedNames(query).includes('transactionHash')
    return isFlat && empty.length > 0 ? [flatField(empty)] : []
  }
  return transactionFields
    .filter((name) => !selected.includes(name) && empty.some((field) => field.name === name))
    .map(missingTransactionField)
}

const useRelation = 'Select transaction { hash } in place of transactionHash.'

function flatField(empty: readonly FieldCount[]): ViewFinding {
  const names = empty.map(({ name }) => name).join(', ')
  return warning(
    'QUERY_FLAT_FIELD_INSTEAD_OF_RELATION',
    `the query selects transactionHash, lenses for logs read transaction { hash }, and no row has a value of ${names}`,
    useRelation,
  )
}

function missingTransactionField(name: string): ViewFinding {
  return warning(
    'QUERY_MISSING_TRANSACTION_FIELD',
    `the query selects transaction without ${name}, and no row has a value of ${name}`,
    `Select transaction { ${name} } as well.`,
  )
}

function warning(code: string, message: string, remedy: string): ViewFinding {
  return { severity: 'warning', kind: 'row', code, message, remedy, blocks: [] }
}

/** What the text of a lens asks for; its words are the lens's own. */
function missingField(message: string): string | undefined {
  return /no field '(\w+)'|Requested: (\w+)/.exec(message)?.slice(1).find(Boolean)
}
