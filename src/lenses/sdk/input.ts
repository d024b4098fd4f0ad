/**
 * What the Host writes: always into one buffer, which grows to the largest item. An item is gone with the next call
 * of `next` or `alloc`, so memory stays as it is however many documents pass.
 */

const LEAST: usize = 4096

let buffer: usize = 0
let capacity: usize = 0

/** Where the Host may write `size` bytes; the export of this name of every lens. */
export function alloc(size: usize): usize {
  if (size <= capacity) return buffer
  if (buffer !== 0) heap.free(buffer)
  capacity = size < LEAST ? LEAST : size + (size >> 2)
  buffer = heap.alloc(capacity)
  return buffer
}
