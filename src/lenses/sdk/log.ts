/** A document as a log: its topics as bytes, its data when they are asked for. */
import { Fields } from './fields'
import { bytesOf, HexBytes } from './hex'
import { Elements } from './json-elements'
import { OPEN_OBJECT, QUOTE } from './json-syntax'
import { beginError, endError, errorItem, putText } from './output'
import { document, documentEnd, malformedDocument } from './stream'

/** A quote, 0x, 64 digits, a quote. */
const TOPIC_LENGTH: usize = 68
const MOST_TOPICS: i32 = 4

/** Every member of the document. */
export const fields = new Fields()
/** 32 bytes for each topic. */
export const topics: usize = memory.data(128)
export let topicCount: i32 = 0
/** Bytes of the field `data`, once `readData` has read them. */
export const data = new HexBytes()
/** The error to answer where a function here answered false. */
export let problem: usize = 0

/** Members of the field `transaction`, once `openTransaction` has read them. */
export const transaction = new Fields()

const elements = new Elements()

/** Reads the members and topics of the document that came last. */
export function openLog(): bool {
  if (!fields.open(document, documentEnd)) return fail(malformedDocument())
  const place = fields.find('topics')
  if (place < 0) return fail(missingField('topics'))
  topicCount = 0
  elements.open(fields.value(place), fields.valueEnd(place))
  while (elements.next()) if (topicCount === MOST_TOPICS || !addTopic()) return fail(noTopics())
  return elements.malformed ? fail(noTopics()) : true
}

/** Reads the data of the document. */
export function readData(): bool {
  return readBytes(fields, 'data', data)
}

/** Reads the bytes of a field of hexadecimal digits. */
export function readBytes(from: Fields, name: string, target: HexBytes): bool {
  const place = from.find(name)
  if (place < 0) return fail(missingField(name))
  if (target.read(from.value(place), from.valueEnd(place))) return true
  beginError("the field '")
  putText(name)
  putText("' is no hexadecimal text")
  return fail(endError())
}

/** The answer to a document that lacks what this lens needs. */
export function missingField(name: string): usize {
  beginError("the document has no field '")
  putText(name)
  putText("': the query of the View has to select it")
  return endError()
}

/** Reads the field `transaction`; without an object there it has no members. */
export function openTransaction(): void {
  transaction.count = 0
  const place = fields.find('transaction')
  if (place < 0 || load<u8>(fields.value(place)) !== OPEN_OBJECT) return
  transaction.open(fields.value(place), fields.valueEnd(place))
}

function addTopic(): bool {
  const at = elements.value
  if (elements.valueEnd - at !== TOPIC_LENGTH || load<u8>(at) !== QUOTE) return false
  if (load<u8>(at, 1) !== 0x30 || (load<u8>(at, 2) | 0x20) !== 0x78) return false
  if (!bytesOf(at + 3, elements.valueEnd - 1, topics + ((topicCount as usize) << 5))) return false
  topicCount++
  return true
}

function noTopics(): usize {
  return errorItem("the field 'topics' is no list of at most four texts of 0x and 64 digits")
}

function fail(error: usize): bool {
  problem = error
  return false
}
