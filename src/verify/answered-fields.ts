/** Which fields of an answered document its bytes cover, which they do not, and which are missing for them. */
import { isObject } from '../json-object.ts'
import { type CollectionName, storedFields } from '../primitives/collections.ts'
import { type DocID, docIDs } from '../primitives/doc-id.ts'
import { typeName } from '../primitives/names.ts'
import type { AnsweredDocument } from './answered-document.ts'

/** The fields that the canonical bytes cover and the answer does not have. */
export function missingFields(
  collection: CollectionName,
  document: AnsweredDocument,
): readonly string[] {
  const names = storedFields(collection).map(({ name }) => name)
  return names.filter((name) => document[name] === undefined)
}

/** Names in the answer that the bytes cover, or that follow from what they cover. */
export function coveredNames(
  network: string,
  docID: DocID,
  document: AnsweredDocument,
): readonly string[] {
  const stored = storedFields(docID.collection).map(({ name }) => name)
  const derived = derivedValues(network, docID, document)
  return Object.keys(document).filter(
    (name) =>
      stored.includes(name) || (Object.hasOwn(derived, name) && document[name] === derived[name]),
  )
}

/** Values beside the stored ones that are the same in every answer. */
function derivedValues(
  network: string,
  docID: DocID,
  document: AnsweredDocument,
): AnsweredDocument {
  const type = { __typename: typeName(network, docID.collection) }
  switch (docID.collection) {
    case 'Transaction':
      return { ...type, ...blockID(document) }
    case 'Log':
      return { ...type, ...blockID(document), ...transactionID(document['transactionHash']) }
    case 'AccessListEntry':
      return { ...type, ...transactionID(docID.transactionHash) }
    default:
      return type
  }
}

function blockID({ blockHash }: AnsweredDocument): AnsweredDocument {
  const id = docIDs.block(String(blockHash))
  return { block_id: id, _blockID: id }
}

function transactionID(hash: unknown): AnsweredDocument {
  const id = docIDs.transaction(String(hash))
  return { transaction_id: id, _transactionID: id }
}

/** Names in the answer that nothing proves: neither covered, nor documents with a proof of their own. */
export function uncoveredNames(
  document: AnsweredDocument,
  covered: readonly string[],
): readonly string[] {
  const named = new Set(['_docID', '_proof', ...covered])
  return Object.keys(document).filter((name) => !named.has(name) && !provesItself(document[name]))
}

/** That a list is empty is proven by nothing. */
function provesItself(value: unknown): boolean {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value]
  return parts.length > 0 && parts.every((part) => isObject(part) && '_proof' in part)
}
