/** A chunk of rows of a View, as a store has it once it is unpacked. */
import { type Chunk, openRawChunk, packChunk } from '../../../src/primitives/body/chunk.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { writeRow } from '../../../src/views/rows/row-codec.ts'
import type { JsonValue } from '../../../src/views/rows/row-values.ts'

/** Rows whose sources are numbered from 0 on; the first has the position `first`. */
export function rowChunk(rows: readonly (readonly JsonValue[])[], first: number): Chunk {
  const out = createByteWriter()
  const lengths = rows.map((values, source) => {
    const start = out.at
    writeRow(out, values, source)
    return out.at - start
  })
  const raw = createByteWriter()
  packChunk(lengths, out.bytes.subarray(0, out.at), raw)
  const place = { first, length: rows.length, rawBytes: raw.at, start: 0, storedBytes: 0 }
  return openRawChunk(Buffer.from(raw.bytes.subarray(0, raw.at)), place)
}
