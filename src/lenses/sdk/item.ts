/**
 * Transport items: what Host and lens hand each other. One byte of type, the length of the content as 32 bits,
 * little-endian, and the content: a document as JSON, or the text of an error.
 */

/** Types of items; every negative one is an error. */
export const ERROR: i32 = -1
/** No value: a document that was dropped. */
export const NIL: i32 = 0
export const DOCUMENT: i32 = 1
export const END_OF_STREAM: i32 = 127

/** Bytes before the content. */
export const HEADER: usize = 5

export function typeOf(item: usize): i32 {
  return load<i8>(item)
}

/** Address of the first byte of the content. */
export function contentOf(item: usize): usize {
  return item + HEADER
}

/** Address behind the last byte of the content. */
export function endOf(item: usize): usize {
  return item + HEADER + load<u32>(item, 1)
}
