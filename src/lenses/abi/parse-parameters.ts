/** Lists of parameters, and of a tuple's components, from the JSON of an ABI. */
import { Elements } from '../sdk/json-elements'
import { Members } from '../sdk/json-members'
import { isKey, isString } from '../sdk/json-text'
import { beginDocument, keepWritten, putSpan, putText } from '../sdk/output'
import { Span } from '../sdk/span'
import { AbiParameter } from './abi-type'
import { isIdentifier } from './identifier'
import { isTuple, MOST_NESTED, parseType } from './parse-type'
import { noteProblem } from './problem'

/** Reads an array of parameters; problems are noted, and what is answered then is of no use. */
export function parseParameters(from: usize, end: usize, depth: i32): AbiParameter[] {
  const parameters: AbiParameter[] = []
  const elements = new Elements()
  elements.open(from, end)
  while (elements.next()) {
    const parameter = parseParameter(elements.value, elements.valueEnd, depth)
    if (parameter === null) return parameters
    parameters.push(parameter)
  }
  if (elements.malformed) noteProblem('the ABI has parameters that are no list: ', span(from, end))
  return parameters
}

/** Notes a problem where two of these have one name. */
export function checkNames(parameters: AbiParameter[]): void {
  for (let index = 0; index < parameters.length; index++)
    for (let other = 0; other < index; other++) {
      const name = parameters[index].name
      const first = parameters[other].name
      if (name.length === 0 || name.length !== first.length) continue
      if (memory.compare(name.at, first.at, name.length) === 0)
        noteProblem('the ABI has a tuple with two components named ', name)
    }
}

function parseParameter(from: usize, end: usize, depth: i32): AbiParameter | null {
  const written = new WrittenParameter()
  const members = new Members()
  members.open(from, end)
  while (members.next()) written.take(members)
  const name = written.name
  const typeText = written.typeText
  if (members.malformed) noteProblem('the ABI has a parameter that is no object: ', span(from, end))
  else if (name.length > 0 && !isIdentifier(name)) noteProblem('this is no name: ', name)
  else if (depth > MOST_NESTED) noteProblem('unsupported type: ', typeText)
  else return toParameter(written, depth)
  return null
}

/** A parameter as the ABI writes it. */
class WrittenParameter {
  name: Span = new Span(0, 0)
  typeText: Span = new Span(0, 0)
  components: Span = new Span(0, 0)
  isIndexed: bool = false

  take(members: Members): void {
    const key = members.key
    const keyEnd = members.keyEnd
    const value = members.value
    const valueEnd = members.valueEnd
    if (isKey(key, keyEnd, 'indexed')) this.isIndexed = load<u8>(value) === 0x74
    else if (isKey(key, keyEnd, 'components')) this.components = span(value, valueEnd)
    else if (!isString(value)) return
    else if (isKey(key, keyEnd, 'name')) this.name = span(value + 1, valueEnd - 1)
    else if (isKey(key, keyEnd, 'type')) this.typeText = span(value + 1, valueEnd - 1)
  }
}

function toParameter(written: WrittenParameter, depth: i32): AbiParameter | null {
  const typeText = written.typeText
  let parts: AbiParameter[] | null = null
  if (isTuple(typeText)) {
    const list = written.components
    parts = parseParameters(list.at, list.at + list.length, depth + 1)
    checkNames(parts)
  }
  const type = parseType(typeText, parts)
  if (type === null) return null
  const head = opening(written.name, typeText)
  const parameter = new AbiParameter(written.name, typeText, type, head)
  parameter.isIndexed = written.isIndexed
  return parameter
}

function opening(name: Span, typeText: Span): Span {
  beginDocument()
  putText('{"name":"')
  putSpan(name)
  putText('","type":"')
  putSpan(typeText)
  putText('","value":')
  return keepWritten()
}

function span(from: usize, end: usize): Span {
  return new Span(from, end - from)
}
