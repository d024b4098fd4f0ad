/** What is stored of a chunk: a Zstandard frame (RFC 8878). */
import {
  constants,
  createZstdCompress,
  createZstdDecompress,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'
import { asBuffer } from '../cbor.ts'
import { createFrameContext } from './frame-context.ts'
import { isOneFrame } from './one-frame.ts'

/** Memory allocated at once while unpacking, so that a forged directory entry costs little. */
const maxStepBytes = 512 * 1024
/** Level 1 never needs a larger window; a peer's frame that asks for more is refused. */
const maxWindowLog = 20
/** With a checksum, so that a damaged store fails with an error rather than return other documents. */
const compressOptions = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
  info: true,
}
const decompressParams = { [constants.ZSTD_d_windowLogMax]: maxWindowLog }

const compressing = createFrameContext(() => createZstdCompress(compressOptions))
const decompressing = createFrameContext(() => createZstdDecompress({ params: decompressParams }))
/** Where one frame is made at a time. */
let place = Buffer.alloc(0)

/** The frame of these bytes. */
export function compressFrame(bytes: Uint8Array): Buffer {
  const length = bytes.length < maxStepBytes ? compressing.run(bytes, placeFor(bytes.length)) : -1
  return length < 0
    ? apartFromEngine(zstdCompressSync(bytes, compressOptions))
    : Buffer.from(place.subarray(0, length))
}

/** With room for whatever frame becomes of so many bytes, as `ZSTD_compressBound` has it, and one byte more. */
function placeFor(bytes: number): Buffer {
  const most = bytes + (bytes >>> 8) + 65
  if (place.length < most) place = Buffer.allocUnsafeSlow(most)
  return place
}

/**
 * What a frame unpacks to, never more than `maxBytes`.
 * @throws Error of `node:zlib`
 */
export function decompressFrame(frame: Uint8Array, maxBytes: number): Buffer {
  // After a frame that is cut off, the context would take the next one for the rest of it: not every Node notices.
  if (maxBytes < maxStepBytes && isOneFrame(asBuffer(frame))) {
    const bytes = Buffer.allocUnsafeSlow(maxBytes + 1)
    const length = decompressing.run(frame, bytes)
    if (length >= 0) return bytes.subarray(0, length)
  }
  const options = {
    chunkSize: Math.max(constants.Z_MIN_CHUNK, Math.min(maxBytes + 1, maxStepBytes)),
    maxOutputLength: maxBytes,
    params: decompressParams,
    info: true,
  }
  return apartFromEngine(zstdDecompressSync(frame, options))
}

/** What a call returns with `info`, which its types do not know. */
interface WithEngine {
  readonly buffer: Buffer
  readonly engine: object
}

/**
 * The bytes alone. An engine, once it is closed, stays in memory until everything there is collected, and these bytes
 * with it: tens of megabytes that nobody uses, and full collections because of them.
 */
function apartFromEngine(made: unknown): Buffer {
  const { buffer, engine } = made as WithEngine
  // Not documented: where Node names it otherwise, memory is free later again.
  Object.assign(engine, { _outBuffer: null })
  return buffer
}
