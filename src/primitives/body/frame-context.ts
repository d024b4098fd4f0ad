/**
 * One context of Zstandard for many frames. `node:zlib` makes a new one, and a stream around it, for each call: that takes
 * longer than the frame where it is a chunk of some kilobytes.
 */
import { constants, type ZstdCompress, type ZstdDecompress } from 'node:zlib'

type ZstdStream = ZstdCompress | ZstdDecompress

/** What the streams of `node:zlib` work with. It is not documented, and so may be missing. */
interface Internals {
  readonly _handle?: {
    writeSync?(
      flush: number,
      input: Uint8Array,
      inputAt: number,
      inputBytes: number,
      output: Uint8Array,
      outputAt: number,
      outputBytes: number,
    ): void
  } | null
  /** Bytes of the output that are free, and bytes of the input that are left. */
  readonly _writeState?: Uint32Array
}

/** Compresses or unpacks. */
interface FrameContext {
  /**
   * Makes what becomes of the whole input, in `output`; returns how many bytes that is, and -1 where it fails, where it
   * does not leave at least one byte free, and where this Node has no such context.
   */
  run(input: Uint8Array, output: Uint8Array): number
}

/** A context that is made with the first frame, and again after a failure. */
export function createFrameContext(open: () => ZstdStream): FrameContext {
  let stream: ZstdStream | null = null
  return {
    run: (input, output) => {
      stream ??= openQuietly(open)
      const length = runOnce(stream, input, output)
      if (length < 0) {
        // It may stand within the frame that failed.
        stream.destroy()
        stream = null
      }
      return length
    },
  }
}

/** A failure is noticed where it happens. */
function openQuietly(open: () => ZstdStream): ZstdStream {
  return open().on('error', () => undefined)
}

function runOnce(stream: ZstdStream, input: Uint8Array, output: Uint8Array): number {
  const { _handle: handle, _writeState: state } = stream as Internals
  if (typeof handle?.writeSync !== 'function' || state === undefined) return -1
  handle.writeSync(constants.ZSTD_e_end, input, 0, input.length, output, 0, output.length)
  const [free = 0, left = 0] = state
  return stream.destroyed || free === 0 || left > 0 ? -1 : output.length - free
}
