/**
 * What the Host writes: always into one buffer, which grows to the largest item. An item is gone with the next call
 * of `next` or `alloc`, so memory stays as it is however many documents pass.
 */

const LEAST: usize = 4096
/** Bytes beyond an item that a new buffer has at most, so that slightly larger ones find it large enough. */
const MOST_SPARE: usize = 65536

let buffer: usize = 0
let capacity: usize = 0

/** Where the Host may write `size` bytes; the export of this name of every lens. */
export function alloc(size: usize): usize {
  if (size <= capacity) return buffer
  if (buffer !== 0) heap.free(buffer)
  capacity = max(LEAST, size + min(size >> 2, MOST_SPARE))
  buffer = heap.alloc(capacity)
  return buffer
}
