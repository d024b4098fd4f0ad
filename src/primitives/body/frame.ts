/** What is stored of a chunk: a Zstandard frame (RFC 8878). */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Memory allocated at once while unpacking, so that a forged directory entry costs little. */
const maxStepBytes = 512 * 1024
/** Level 1 never needs a larger window; a peer's frame that asks for more is refused. */
const maxWindowLog = 20
/** With a checksum, so that a damaged store fails with an error rather than return other documents. */
const compressOptions = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
  info: true,
}

/** The frame of these bytes. */
export function compressFrame(bytes: Uint8Array): Buffer {
  return apartFromEngine(zstdCompressSync(bytes, compressOptions))
}

/**
 * What a frame unpacks to, never more than `maxBytes`.
 * @throws Error of `node:zlib`
 */
export function decompressFrame(frame: Uint8Array, maxBytes: number): Buffer {
  const options = {
    chunkSize: Math.max(constants.Z_MIN_CHUNK, Math.min(maxBytes + 1, maxStepBytes)),
    maxOutputLength: maxBytes,
    params: { [constants.ZSTD_d_windowLogMax]: maxWindowLog },
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
