/** The source of a lens: what comes, and what is passed on without a look at it. */
import { contentOf, DOCUMENT, END_OF_STREAM, endOf, NIL, typeOf } from './item'
import { next } from './lens'
import { endOfStream, errorItem, nilItem } from './output'

/** Addresses of the document that came last. */
export let document: usize = 0
export let documentEnd: usize = 0
let item: usize = 0

/** Takes the next item of the source; true where it is a document. */
export function pull(): bool {
  item = next()
  if (typeOf(item) !== DOCUMENT) return false
  document = contentOf(item)
  documentEnd = endOf(item)
  return true
}

/** The document that came last, as it is. */
export function sameItem(): usize {
  return item
}

/**
 * What follows from an item that is no document: errors and nil go on as they are, and so does the end of the stream,
 * after which more may come.
 */
export function passOn(): usize {
  const type = typeOf(item)
  if (type < 0) return item
  if (type === NIL) return nilItem()
  if (type === END_OF_STREAM) return endOfStream()
  return errorItem('the source gave an item of an unknown type')
}

/** The answer to a document that is no JSON object. */
export function malformedDocument(): usize {
  return errorItem('the document is no JSON object')
}

/** Whether the item that came last is the end of the stream. */
export function isEnd(): bool {
  return typeOf(item) === END_OF_STREAM
}
