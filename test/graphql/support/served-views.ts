/** Views with rows that were put into the store by hand. */
import assert from 'node:assert/strict'
import type { ServedView } from '../../../src/graphql/catalog/view-entity.ts'
import { encodeFailure } from '../../../src/views/rows/block-rows.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import { createRowPacker } from '../../../src/views/rows/rows.ts'
import { parseViewQuery } from '../../../src/views/view-query.ts'
import type { ChainBlock } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import type { GraphqlRoom } from './graphql-room.ts'

/** What is stored of a block at which a View failed. */
export const storedFailure: Uint8Array = encodeFailure({
  code: 'LENS_TRAPPED',
  message: 'lens 2 trapped in transform: unreachable',
  remedy: null,
  attempts: 1,
})

type RowDocument = Readonly<Record<string, unknown>>

/** The slot also tells the View's ID apart from those of others. */
export function servedView(sdl: string, query = 'Log { address }', slot = 1): ServedView {
  const rowType = parseRowType(sdl)
  const read = parseViewQuery(query, testNetwork)
  assert.ok('selection' in read)
  const id = `0x${slot.toString(16).padStart(64, '0')}`
  return { id, name: rowType.name, slot, rowType, query: read }
}

/** Stores what a View made of a block; a row's place is its source. */
export async function putRows(
  { store }: Pick<GraphqlRoom, 'store'>,
  { slot, rowType }: ServedView,
  { number, hash }: Pick<ChainBlock, 'number' | 'hash'>,
  documents: readonly RowDocument[],
): Promise<void> {
  const packer = createRowPacker(rowType)
  for (const [index, document] of documents.entries()) packer.add(document, index)
  const rows = packer.finish()
  const stored = await store.putViewRows(slot, [{ height: number, blockHash: hash, rows }])
  assert.deepEqual(stored, [number])
}
