/** Logs with the event that they are, by the ABI of a contract. docs/lenses.md has arguments and answers. */
import { AbiEntry } from './abi/abi-type'
import { entries, takeAbi } from './abi/parse-abi'
import { putEventArguments } from './abi/put-arguments'
import { dropsUnmatched, takeUnmatched } from './abi/unmatched'
import { isObject, notAnObject, notSet } from './sdk/arguments'
import { OPEN_OBJECT } from './sdk/json-syntax'
import { isKey } from './sdk/json-text'
import {
  data,
  fields,
  openLog,
  openTransaction,
  problem,
  readData,
  topicCount,
  topics,
  transaction,
} from './sdk/log'
import {
  beginDocument,
  endDocument,
  nilItem,
  putByte,
  putSpan,
  putText,
  rewindTo,
  written,
} from './sdk/output'
import { passOn, pull } from './sdk/stream'

export { alloc } from './sdk/input'

const COMMA: u8 = 0x2c
/** Events of the ABI, the anonymous ones last: they are what is left. */
let events: AbiEntry[] = []
let isSet = false

export function set_param(item: usize): usize {
  isSet = false
  if (!isObject(item)) return notAnObject()
  let error = takeUnmatched(item)
  if (error === 0) error = takeAbi(item, 'event')
  if (error !== 0) return error
  events = []
  addEvents(false)
  addEvents(true)
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

function addEvents(anonymous: bool): void {
  for (let index = 0; index < entries.length; index++)
    if (entries[index].isAnonymous === anonymous) events.push(entries[index])
}

/** The answer to the document that came last; 0 where it is dropped. */
function answerOf(): usize {
  if (!openLog()) return problem
  let event = matching(0)
  if (event < 0 && dropsUnmatched) return 0
  if (event >= 0 && !readData()) return problem
  beginDocument()
  putByte(OPEN_OBJECT)
  putDocument()
  const mark = written()
  while (event >= 0) {
    putSpan(events[event].opening)
    if (putEventArguments(events[event], topicsOf(events[event]), data.at, data.length)) break
    rewindTo(mark)
    event = matching(event + 1)
  }
  if (event < 0 && dropsUnmatched) return 0
  if (event < 0) putText('"event":"Unknown","signature":"","arguments":[')
  putText(']}')
  return endDocument()
}

/** The first event from `start` on whose topics are those of the log; -1 without one. */
function matching(start: i32): i32 {
  for (let index = start; index < events.length; index++) {
    const event = events[index]
    const own = event.isAnonymous ? 0 : 1
    if (event.indexed + own !== topicCount) continue
    if (event.isAnonymous || memory.compare(event.hash, topics, 32) === 0) return index
  }
  return -1
}

/** Where the topics of an event's parameters begin. */
function topicsOf(event: AbiEntry): usize {
  return event.isAnonymous ? topics : topics + 32
}

/** Puts the members of the document, and those that are made of them. */
function putDocument(): void {
  openTransaction()
  const hash = transaction.find('hash')
  const from = transaction.find('from')
  const to = transaction.find('to')
  const otherHash = hash < 0 ? fields.find('transactionHash') : -1
  for (let member = 0; member < fields.count; member++)
    if (!isReplaced(member, hash >= 0 || otherHash >= 0, from >= 0, to >= 0))
      fields.putMember(member)
  if (hash >= 0) transaction.putMember(hash)
  else if (otherHash >= 0) putNamed('"hash":', otherHash)
  if (from >= 0) transaction.putMember(from)
  if (to >= 0) transaction.putMember(to)
  putNamed('"logAddress":', fields.find('address'))
}

function putNamed(name: string, place: i32): void {
  putText(name)
  if (place >= 0) fields.putValue(place)
  else putText('null')
  putByte(COMMA)
}

/** Whether a member has a name that this lens gives to something else. */
function isReplaced(member: i32, hash: bool, from: bool, to: bool): bool {
  const key = fields.key(member)
  const end = fields.keyEnd(member)
  if (end - key > 12) return false
  return (
    (hash && isKey(key, end, 'hash')) ||
    (from && isKey(key, end, 'from')) ||
    (to && isKey(key, end, 'to')) ||
    isKey(key, end, 'logAddress') ||
    isKey(key, end, 'event') ||
    isKey(key, end, 'signature') ||
    isKey(key, end, 'arguments')
  )
}
