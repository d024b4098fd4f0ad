/**
 * What it takes to make the version of a document: each CID that is selected hashes the document, and
 * each delta is a copy of it.
 */
import type { NamedField } from './plan.ts'
import type { Work } from './work.ts'

/** Comparisons that take as long as making a CID, and bytes hashed meanwhile as one more. */
const comparisonsOfCid = 32
const bytesAsComparison = 64

/** Counts the work of a version of a document of so many bytes, and checks how large it becomes. */
export function chargeVersion(
  work: Work,
  fields: readonly NamedField[],
  documentBytes: number,
): void {
  const cids = fields.filter(({ name }) => name === 'cid').length
  const deltas = fields.filter(({ name }) => name === 'delta').length
  work.compare(cids * (comparisonsOfCid + Math.ceil(documentBytes / bytesAsComparison)))
  work.checkObject(deltas * documentBytes)
}
