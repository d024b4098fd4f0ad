/** The modules of a View as one blob, compressed (Zstandard, RFC 8878) or not. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { viewLimits } from './view.ts'
import { checkSize, createWireReader, malformed } from './wire-reader.ts'

/** How the blob is kept; bundles of other tools always have `zstd`. */
export type BlobCodec = 'none' | 'zstd'

/** By the byte that names them. */
export const blobCodecs: readonly BlobCodec[] = ['none', 'zstd']

interface DecompressedFrame {
  readonly buffer: Uint8Array
  /** `bytesWritten` is how much of the input was used. */
  readonly engine: { readonly bytesWritten: number }
}

/**
 * As much as a decoder may hold at once: no window of a blob within the limits has to be larger, and a
 * frame that asks for more is refused before it is given any.
 */
const windowLog = Math.ceil(Math.log2(viewLimits.blob))

/** @throws ServiceError `VIEWS_TOO_LARGE` where the modules are too large. */
export function encodeBlob(modules: readonly Uint8Array[], codec: BlobCodec): Uint8Array {
  const size = modules.reduce((sum, { length }) => sum + 4 + length, 2)
  checkSize('the lenses', size, viewLimits.blob)
  const blob = new Uint8Array(size)
  const view = new DataView(blob.buffer)
  view.setUint16(0, modules.length, true)
  let offset = 2
  for (const module of modules) {
    view.setUint32(offset, module.length, true)
    blob.set(module, offset + 4)
    offset += 4 + module.length
  }
  return codec === 'zstd' ? zstdCompressSync(blob) : blob
}

/**
 * The modules of a blob that has to hold `count` of them.
 * @throws ServiceError `VIEWS_WIRE_MALFORMED`, or `VIEWS_TOO_LARGE` once they turn out to be.
 */
export function decodeBlob(encoded: Uint8Array, codec: BlobCodec, count: number): Uint8Array[] {
  const blob = codec === 'zstd' ? decompress(encoded) : encoded
  const reader = createWireReader(blob)
  const found = reader.u16('the number of modules')
  if (found !== count)
    throw malformed(`there are ${count} lenses and ${found} modules`, { count, found })
  const modules = Array.from({ length: count }, (_, index) =>
    reader.sized(`module ${index + 1}`, viewLimits.blob),
  )
  reader.end()
  return modules
}

/** One frame: what other tools would make of more is not what Node does, and nobody writes more. */
function decompress(encoded: Uint8Array): Uint8Array {
  const { buffer, engine } = decompressFirstFrame(encoded)
  const left = encoded.length - engine.bytesWritten
  if (left > 0) throw malformed(`${left} bytes follow the compressed lenses`, { left })
  return buffer
}

function decompressFirstFrame(encoded: Uint8Array): DecompressedFrame {
  const options = {
    maxOutputLength: viewLimits.blob,
    params: { [constants.ZSTD_d_windowLogMax]: windowLog },
    info: true,
  }
  try {
    // With `info` it returns this, which its types do not know.
    return zstdDecompressSync(encoded, options) as unknown as DecompressedFrame
  } catch (cause) {
    const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    if (isTooLarge) checkSize('the decompressed lenses', viewLimits.blob + 1, viewLimits.blob)
    throw malformed(`the lenses cannot be decompressed: ${String(cause)}`, {}, cause)
  }
}
