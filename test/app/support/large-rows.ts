/** Rows that compress badly. */
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import { createRowPacker, type PackedRows } from '../../../src/views/rows/rows.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { madeSdl } from './made-chain.ts'

/** A thousand rows that take some 300 kB however they are compressed; of one name they are the same. */
export function largeRows(name: string): PackedRows {
  const random = createSeededRandom(name)
  const packer = createRowPacker(parseRowType(madeSdl))
  const text = (): string => random.bytes(300).toString('base64')
  for (let row = 0; row < 1_000; row++) packer.add({ from: name, to: text(), amount: row }, row)
  return packer.finish()
}
