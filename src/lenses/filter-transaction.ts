/** Keeps the documents that have a certain JSON value in a field, and skips the others. docs/lenses.md has the rest. */
import {
  argument,
  argumentEnd,
  argumentError,
  findArgument,
  isObject,
  notAnObject,
  notSet,
  takeText,
} from './sdk/arguments'
import { sameValue } from './sdk/json-equal'
import { Members } from './sdk/json-members'
import { sameText, Text } from './sdk/json-text'
import { beginError, endError, nilItem, putBytes } from './sdk/output'
import { document, documentEnd, malformedDocument, passOn, pull, sameItem } from './sdk/stream'

export { alloc } from './sdk/input'

const field = new Text()
/** The value as the arguments write it. */
const value = new Text()
const scratch = new Text()
const members = new Members()
let isSet = false
let isFound = false

export function set_param(item: usize): usize {
  isSet = false
  if (!isObject(item)) return notAnObject()
  const error = takeText(item, 'src', field)
  if (error !== 0) return error
  if (!findArgument(item, 'value')) return argumentError('missing required argument ', 'value', '')
  value.copy(argument, argumentEnd)
  isSet = true
  return nilItem()
}

export function transform(): usize {
  if (!isSet) return notSet()
  while (pull()) {
    const isKept = matches()
    if (members.malformed) return malformedDocument()
    if (!isFound) return missingProperty()
    if (isKept) return sameItem()
  }
  return passOn()
}

function matches(): bool {
  let isKept = false
  isFound = false
  members.open(document, documentEnd)
  while (members.next()) {
    if (!sameText(members.key, members.keyEnd, field, scratch)) continue
    isFound = true
    isKept = sameValue(members.value, members.valueEnd, value.at, value.at + value.length)
  }
  return isKept
}

/** In the words of the lens that had this name first. */
function missingProperty(): usize {
  beginError('The requested property was not found. Requested: ')
  putBytes(field.at, field.length)
  return endError()
}
