/** Notifying others of what Views store. */
import type { RowsWriter } from '../views/engine/engine.ts'

/** The same writer, which says at what heights Views have stored something. */
export function noticing(
  writer: RowsWriter,
  onStored: (heights: readonly number[]) => void,
): RowsWriter {
  const noticed = async (stored: Promise<readonly number[]>): Promise<readonly number[]> => {
    onStored(await stored)
    return await stored
  }
  return {
    ...writer,
    putViewRows: (slot, bytes) => noticed(writer.putViewRows(slot, bytes)),
    putEmptyViewBlocks: (blocks) => noticed(writer.putEmptyViewBlocks(blocks)),
  }
}
