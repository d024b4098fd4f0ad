/**
 * The cost of a document's version: each CID that is selected hashes the document, and each delta is a
 * copy of it.
 */
import type { QueryBudget } from '../budget/query-budget.ts'
import type { NamedField } from './plan.ts'

/** Comparisons that take as long as making a CID, and bytes hashed meanwhile as one more. */
const comparisonsOfCid = 32
const bytesAsComparison = 64

/** Counts the cost of a version of a document of so many bytes, and checks how large it becomes. */
export function chargeVersion(
  budget: QueryBudget,
  fields: readonly NamedField[],
  documentBytes: number,
): void {
  const cids = fields.filter(({ name }) => name === 'cid').length
  const deltas = fields.filter(({ name }) => name === 'delta').length
  budget.countComparisons(cids * (comparisonsOfCid + Math.ceil(documentBytes / bytesAsComparison)))
  budget.checkObject(deltas * documentBytes)
}
