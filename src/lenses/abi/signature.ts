/** Signatures, as in `Transfer(address,address,uint256)`: what hashes are made of. */
import { putByte, putSpan, putText } from '../sdk/output'
import { Span } from '../sdk/span'
import { AbiParameter, AbiType, ARRAY, INT, UINT } from './abi-type'
import { isTuple } from './parse-type'

const COMMA: u8 = 0x2c

export function putSignature(name: Span, parameters: AbiParameter[]): void {
  putSpan(name)
  putTypes(parameters)
}

function putTypes(parameters: AbiParameter[]): void {
  putByte(0x28)
  for (let index = 0; index < parameters.length; index++) {
    if (index > 0) putByte(COMMA)
    putType(parameters[index])
  }
  putByte(0x29)
}

/** The type without names; `uint` and `int` with their bits. */
function putType(parameter: AbiParameter): void {
  const type = parameter.type
  const typeText = parameter.typeText
  const base = baseOf(type)
  const length = baseLength(typeText)
  if (isTuple(typeText)) putTypes(base.components)
  else {
    putSpan(new Span(typeText.at, length))
    if ((base.kind === UINT && length === 4) || (base.kind === INT && length === 3)) putText('256')
  }
  putSpan(new Span(typeText.at + length, typeText.length - length))
}

/** What an array of arrays is made of. */
function baseOf(type: AbiType): AbiType {
  let base = type
  while (base.kind === ARRAY) {
    const element = base.element
    if (element === null) break
    base = element
  }
  return base
}

function baseLength(text: Span): usize {
  let length: usize = 0
  while (length < text.length && load<u8>(text.at + length) !== 0x5b) length++
  return length
}
