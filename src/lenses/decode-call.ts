/** Transactions with the function that they call, by the ABI of a contract. docs/lenses.md has the rest. */
import { AbiEntry } from './abi/abi-type'
import { entries, takeAbi } from './abi/parse-abi'
import { putCallArguments } from './abi/put-arguments'
import { dropsUnmatched, takeUnmatched } from './abi/unmatched'
import { isObject, notAnObject, notSet } from './sdk/arguments'
import { Fields } from './sdk/fields'
import { HexBytes } from './sdk/hex'
import { OPEN_OBJECT, QUOTE } from './sdk/json-syntax'
import { isKey } from './sdk/json-text'
import { problem, readBytes } from './sdk/log'
import { beginDocument, endDocument, nilItem, putByte, putSpan, putText } from './sdk/output'
import { document, documentEnd, malformedDocument, passOn, pull, sameItem } from './sdk/stream'

export { alloc } from './sdk/input'

/** Bytes that say which function is called. */
const SELECTOR: usize = 4
const fields = new Fields()
const input = new HexBytes()
let isSet = false

export function set_param(item: usize): usize {
  isSet = false
  if (!isObject(item)) return notAnObject()
  let error = takeUnmatched(item)
  if (error === 0) error = takeAbi(item, 'function')
  if (error !== 0) return error
  isSet = true
  return nilItem()
}

export function transform(): usize {
  if (!isSet) return notSet()
  while (pull()) {
    const answer = answerOf()
    if (answer !== 0) return answer
  }
  return passOn()
}

/** The answer to the document that came last; 0 where it is dropped. */
function answerOf(): usize {
  if (!fields.open(document, documentEnd)) return malformedDocument()
  if (!readBytes(fields, 'input', input)) return problem
  if (!createsContract())
    for (let index = 0; index < entries.length; index++)
      if (isCallOf(entries[index]) && putCall(entries[index])) return endDocument()
  return dropsUnmatched ? 0 : sameItem()
}

/** Then the input is no call but code. */
function createsContract(): bool {
  const place = fields.find('to')
  return place >= 0 && load<u8>(fields.value(place)) === 0x6e
}

function isCallOf(entry: AbiEntry): bool {
  return input.length >= SELECTOR && load<u32>(input.at) === load<u32>(entry.hash)
}

/** Puts the document with the call; false where the input is none. */
function putCall(entry: AbiEntry): bool {
  beginDocument()
  putByte(OPEN_OBJECT)
  for (let member = 0; member < fields.count; member++)
    if (!isReplaced(member)) fields.putMember(member)
  putText('"block":')
  putBlock(fields.find('blockNumber'))
  putText(',')
  putSpan(entry.opening)
  if (!putCallArguments(entry, input.at + SELECTOR, input.length - SELECTOR)) return false
  putText(']}')
  return true
}

/** Puts the number of the block as text. */
function putBlock(place: i32): void {
  const first = place < 0 ? 0 : load<u8>(fields.value(place))
  const isNumber = first >= 0x30 && first <= 0x39
  if (isNumber) putByte(QUOTE)
  if (place < 0) putText('null')
  else fields.putValue(place)
  if (isNumber) putByte(QUOTE)
}

/** Whether a member has a name that this lens gives to something else. */
function isReplaced(member: i32): bool {
  const key = fields.key(member)
  const end = fields.keyEnd(member)
  return (
    isKey(key, end, 'block') ||
    isKey(key, end, 'function') ||
    isKey(key, end, 'signature') ||
    isKey(key, end, 'arguments')
  )
}
