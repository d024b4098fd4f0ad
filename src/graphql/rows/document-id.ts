/**
 * The docID of a stored document, from its place and as few of its values as it takes.
 */
import { fieldIndex, type Section, type Value } from '../../primitives/collections.ts'
import { docIDs } from '../../primitives/doc-id.ts'
import { readField } from '../../primitives/values.ts'
import type { BlockHeader, StoredBlock } from '../../store/store.ts'

const transactionHash = fieldIndex('Transaction', 'hash')
const logIndex = fieldIndex('Log', 'logIndex')

/** The docID of the document at a position of a section. */
export function sectionDocID(
  section: Section,
  stored: StoredBlock,
  header: BlockHeader,
  position: number,
): string {
  switch (section) {
    case 'Block':
      return docIDs.block(header.hash)
    case 'Transaction':
      return docIDs.transaction(transactionHashAt(stored, position))
    case 'Log':
      return docIDs.log(header.hash, Number(read(stored, 'Log', position, logIndex)))
    case 'AccessListEntry': {
      const owner = stored.transactionOfEntry(position)
      const [first] = stored.entriesOf(owner)
      return docIDs.entry(transactionHashAt(stored, owner), position - first)
    }
  }
}

/** The hash of the transaction at a position. */
export function transactionHashAt(stored: StoredBlock, position: number): string {
  return String(read(stored, 'Transaction', position, transactionHash))
}

function read(stored: StoredBlock, section: Section, position: number, index: number): Value {
  const chunk = stored.openChunk(section, stored.chunkOf(section, position))
  return readField(section, chunk.values(position), index)
}
