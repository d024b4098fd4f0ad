/** The arguments of a lens: a JSON object, given once before the first document. */
import { contentOf, DOCUMENT, endOf, typeOf } from './item'
import { Members } from './json-members'
import { isKey, isString, Text } from './json-text'
import { beginError, endError, errorItem, putText } from './output'

const members = new Members()

/** Addresses of the value found last. */
export let argument: usize = 0
export let argumentEnd: usize = 0

/** Whether the item is a JSON object; else `notAnObject` is the answer. */
export function isObject(item: usize): bool {
  if (typeOf(item) !== DOCUMENT) return false
  members.open(contentOf(item), endOf(item))
  while (members.next());
  return !members.malformed
}

export function notAnObject(): usize {
  return errorItem('the arguments are no JSON object')
}

/** Whether there is such an argument; the last one where it is there twice, as in JSON.parse. */
export function findArgument(item: usize, name: string): bool {
  let found = false
  members.open(contentOf(item), endOf(item))
  while (members.next()) {
    if (!isKey(members.key, members.keyEnd, name)) continue
    argument = members.value
    argumentEnd = members.valueEnd
    found = true
  }
  return found
}

/**
 * Puts the text of a string argument that is not empty into `target`.
 * @returns 0, or the address of the error to answer.
 */
export function takeText(item: usize, name: string, target: Text): usize {
  if (!findArgument(item, name)) return argumentError('missing required argument ', name, '')
  if (!isString(argument)) return argumentError('the argument ', name, ' is no string')
  target.unescape(argument, argumentEnd)
  return target.length > 0 ? 0 : argumentError('', name, ' parameter cannot be empty')
}

/** An error about one argument, its name in quotes. */
export function argumentError(before: string, name: string, after: string): usize {
  beginError(before)
  putText("'")
  putText(name)
  putText("'")
  putText(after)
  return endError()
}

/** The answer of every lens that has arguments where it was given none. */
export function notSet(): usize {
  return errorItem('set_param must be called before transform')
}
