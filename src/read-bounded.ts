/** Reads what somebody else decides the size of: files that were named, standard input, answers. */
import { createReadStream } from 'node:fs'

/** @throws RangeError where there is more; what the source throws. `onBytes` is called with what was read so far. */
export async function readBounded(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  onBytes?: (bytes: number) => void,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new RangeError(`it has more than ${maxBytes} bytes`)
    chunks.push(chunk)
    onBytes?.(bytes)
  }
  return Buffer.concat(chunks)
}

/** A file, or a pipe as a shell makes one of `<(command)`. @throws as `readBounded` does */
export async function readBoundedFile(path: string, maxBytes: number): Promise<Buffer> {
  return await readBounded(createReadStream(path), maxBytes)
}
