/** Rows of made-up Views, for tests of what keeps and serves them. */
import type { Snapshot, ViewBlockToStore } from '../../src/store/store.ts'
import { readRow, type StoredRow } from '../../src/views/rows/row-codec.ts'
import { parseRowType, type RowType } from '../../src/views/rows/row-type.ts'
import { createRowPacker, type PackedRows } from '../../src/views/rows/rows.ts'

/** A type with a field of each kind that an index treats in its own way. */
const sampleRowType: RowType = parseRowType(
  'type Sample { name: String @index counts: [Int] @index data: JSON }',
)

export type RowDocument = Readonly<Record<string, unknown>>

/** Rows of `sampleRowType`; the position of each document is its source. */
function packRows(documents: readonly RowDocument[]): PackedRows {
  const packer = createRowPacker(sampleRowType)
  for (const [index, document] of documents.entries()) packer.add(document, index)
  return packer.finish()
}

/** What a View made of a block. */
export function viewBlock(
  header: { readonly number: number; readonly hash: string },
  documents: readonly RowDocument[],
): ViewBlockToStore {
  return { height: header.number, blockHash: header.hash, rows: packRows(documents) }
}

/** All rows of a View at a height in their order; null where it has not done that one. */
export function storedRows(snapshot: Snapshot, slot: number, height: number): StoredRow[] | null {
  const rows = snapshot.viewRows(slot, height)
  if (rows === undefined) return null
  return Array.from({ length: rows.chunkCount }, (_, index) => rows.openChunk(index)).flatMap(
    (chunk) =>
      Array.from({ length: chunk.length }, (_, index) =>
        readRow(chunk.values(chunk.first + index)),
      ),
  )
}
