/** The argument `abi`: the JSON of a contract's ABI, as an array or as a string of one. */
import { argument, argumentEnd, argumentError, findArgument } from '../sdk/arguments'
import { Elements } from '../sdk/json-elements'
import { Members } from '../sdk/json-members'
import { isKey, isString, Text } from '../sdk/json-text'
import { keccak256 } from '../sdk/keccak'
import { beginDocument, keepWritten, putSpan, putText } from '../sdk/output'
import { Span } from '../sdk/span'
import { AbiEntry, AbiParameter } from './abi-type'
import { isIdentifier } from './identifier'
import { parseParameters } from './parse-parameters'
import { clearProblem, hasProblem, noteProblem, problemItem } from './problem'
import { putSignature } from './signature'

/** The ABI itself: names and types of entries point into it. */
const source = new Text()

/** Entries that `takeAbi` read, in the order of the ABI. */
export let entries: AbiEntry[] = []

/**
 * Reads the entries of one kind, `event` or `function`.
 * @returns 0, or the address of the error to answer.
 */
export function takeAbi(item: usize, kind: string): usize {
  entries = []
  clearProblem()
  if (!findArgument(item, 'abi')) return argumentError('missing required argument ', 'abi', '')
  if (isString(argument)) source.unescape(argument, argumentEnd)
  else source.copy(argument, argumentEnd)
  const elements = new Elements()
  elements.open(source.at, source.at + source.length)
  while (!hasProblem && elements.next()) addEntry(elements.value, elements.valueEnd, kind)
  if (elements.malformed) return argumentError('the argument ', 'abi', ' is no JSON array')
  if (!hasProblem && entries.length === 0)
    return argumentError(
      'the argument ',
      'abi',
      kind === 'event' ? ' has no event' : ' has no function',
    )
  return hasProblem ? problemItem() : 0
}

function addEntry(from: usize, end: usize, kind: string): void {
  const members = new Members()
  let name = new Span(0, 0)
  let inputs = new Span(0, 0)
  let isWanted = false
  let isAnonymous = false
  members.open(from, end)
  while (members.next()) {
    const key = members.key
    const keyEnd = members.keyEnd
    const value = members.value
    const valueEnd = members.valueEnd
    if (isKey(key, keyEnd, 'type')) isWanted = isKey(value, valueEnd, kind)
    else if (isKey(key, keyEnd, 'anonymous')) isAnonymous = load<u8>(value) === 0x74
    else if (isKey(key, keyEnd, 'inputs')) inputs = new Span(value, valueEnd - value)
    else if (isKey(key, keyEnd, 'name') && isString(value))
      name = new Span(value + 1, valueEnd - value - 2)
  }
  if (members.malformed)
    noteProblem('the ABI has an entry that is no object: ', new Span(from, end - from))
  else if (isWanted) addWanted(name, inputs, kind, isAnonymous)
}

function addWanted(name: Span, inputs: Span, kind: string, isAnonymous: bool): void {
  if (!isIdentifier(name)) noteProblem('this is no name: ', name)
  const parameters =
    inputs.length > 0 ? parseParameters(inputs.at, inputs.at + inputs.length, 0) : []
  if (hasProblem) return
  const entry = toEntry(name, parameters, kind)
  entry.isAnonymous = isAnonymous
  for (let index = 0; index < parameters.length; index++)
    if (parameters[index].isIndexed) entry.indexed++
  if (entry.indexed > (isAnonymous ? 4 : 3))
    noteProblem('more parameters are indexed than a log has topics: ', name)
  entries.push(entry)
}

function toEntry(name: Span, parameters: AbiParameter[], kind: string): AbiEntry {
  beginDocument()
  putSignature(name, parameters)
  const signature = keepWritten()
  const hash = heap.alloc(32)
  keccak256(signature.at, signature.length, hash)
  beginDocument()
  putText('"')
  putText(kind)
  putText('":"')
  putSpan(name)
  putText('","signature":"')
  putSpan(signature)
  putText('","arguments":[')
  return new AbiEntry(parameters, hash, keepWritten())
}
