/** Keeps the documents that have a certain text in a field; the others become nil. docs/lenses.md has the arguments. */
import { isObject, notAnObject, notSet, takeText } from './sdk/arguments'
import { Members } from './sdk/json-members'
import { isString, sameText, sameTextInAnyCase, Text } from './sdk/json-text'
import { nilItem } from './sdk/output'
import { document, documentEnd, malformedDocument, passOn, pull, sameItem } from './sdk/stream'

export { alloc } from './sdk/input'

const field = new Text()
const value = new Text()
const scratch = new Text()
const members = new Members()
let isSet = false

export function set_param(item: usize): usize {
  isSet = false
  if (!isObject(item)) return notAnObject()
  let error = takeText(item, 'src', field)
  if (error === 0) error = takeText(item, 'value', value)
  if (error !== 0) return error
  isSet = true
  return nilItem()
}

export function transform(): usize {
  if (!isSet) return notSet()
  if (!pull()) return passOn()
  const isKept = matches()
  if (members.malformed) return malformedDocument()
  return isKept ? sameItem() : nilItem()
}

function matches(): bool {
  let isKept = false
  members.open(document, documentEnd)
  while (members.next()) {
    if (sameText(members.key, members.keyEnd, field, scratch))
      isKept =
        isString(members.value) &&
        sameTextInAnyCase(members.value, members.valueEnd, value, scratch)
  }
  return isKept
}
