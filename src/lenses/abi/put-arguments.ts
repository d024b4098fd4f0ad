/** The list `arguments` of what was decoded: `{"name":...,"type":...,"value":...}` for each. */
import { putHex } from '../sdk/hex'
import { putByte, putSpan, putText } from '../sdk/output'
import { AbiEntry, AbiParameter } from './abi-type'
import { openData, putTopic, putValue } from './decode'

const COMMA: u8 = 0x2c

/** Puts the arguments of an event: first those in the `topics`, of 32 bytes each, then those in the data. */
export function putEventArguments(entry: AbiEntry, topics: usize, data: usize, size: usize): bool {
  const parameters = entry.parameters
  let topic = topics
  let isFirst = true
  for (let index = 0; index < parameters.length; index++) {
    if (!parameters[index].isIndexed) continue
    if (!isFirst) putByte(COMMA)
    isFirst = false
    if (!putIndexed(parameters[index], topic)) return false
    topic += 32
  }
  return putOthers(parameters, data, size, isFirst)
}

/** Puts the arguments of a function. */
export function putCallArguments(entry: AbiEntry, data: usize, size: usize): bool {
  return putOthers(entry.parameters, data, size, true)
}

function putIndexed(parameter: AbiParameter, topic: usize): bool {
  putSpan(parameter.opening)
  if (parameter.type.fitsTopic()) {
    if (!putTopic(parameter.type, topic)) return false
    putByte(0x7d)
    return true
  }
  putHex(topic, 32)
  putText(',"hashed":true}')
  return true
}

function putOthers(parameters: AbiParameter[], data: usize, size: usize, first: bool): bool {
  let isFirst = first
  let head: u32 = 0
  openData(data, size)
  for (let index = 0; index < parameters.length; index++) {
    const parameter = parameters[index]
    if (parameter.isIndexed) continue
    if (!isFirst) putByte(COMMA)
    isFirst = false
    putSpan(parameter.opening)
    if (!putValue(parameter.type, head, 0)) return false
    putByte(0x7d)
    head += parameter.type.headBytes
  }
  return true
}
