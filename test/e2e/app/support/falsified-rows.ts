/** Rows of transfers with amounts that were never paid, packed as true ones are. */
import { unpackChunk } from '../../../../src/primitives/body/chunk.ts'
import { decodeBlockRows, encodeBlockRows } from '../../../../src/views/rows/block-rows.ts'
import { readRow } from '../../../../src/views/rows/row-codec.ts'
import { parseRowType } from '../../../../src/views/rows/row-type.ts'
import {
  createRowPacker,
  type PackedRows,
  readRowDirectory,
} from '../../../../src/views/rows/rows.ts'
import { transfersSdl } from './transfers.ts'

/** What each transfer is said to be of. */
export const falseAmount = '7'

/** Whether a Host with this preload lies about a block. */
export function isFalsified(height: number): boolean {
  return height % 2 === 0
}

/** What a View made of some blocks, with lies among it. */
export function falsified(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return encodeBlockRows(
    decodeBlockRows(bytes).map((block) =>
      'rows' in block && isFalsified(block.height)
        ? { ...block, rows: falsifiedRows(block.rows) }
        : block,
    ),
  )
}

function falsifiedRows(rows: PackedRows): PackedRows {
  const rowType = parseRowType(transfersSdl)
  const packer = createRowPacker(rowType)
  for (const chunk of readRowDirectory(rows.bytes)?.chunks ?? []) {
    const { first, length, values } = unpackChunk(rows.bytes, chunk)
    for (let position = first; position < first + length; position++) {
      const row = readRow(values(position))
      const named = rowType.fields.map(({ name }, place) => [name, row.values[place]])
      packer.add({ ...Object.fromEntries(named), amount: falseAmount }, row.source)
    }
  }
  return packer.finish()
}
