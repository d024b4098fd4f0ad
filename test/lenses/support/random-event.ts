/** Logs of random events, encoded by viem, with what a decoding lens has to make of them. */
import fc from 'fast-check'
import {
  type AbiParameter,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  toEventSelector,
  toEventSignature,
  toHex,
} from 'viem'
import { expectedValue } from './expected-values.ts'
import { anyName, anyParameter, type Filled } from './random-abi.ts'

/** A parameter of an event, its value, and the topic where it is indexed. */
interface FilledInput extends Filled {
  readonly topic: Hex | null
}

/** An event and a log of it. */
export interface FilledEvent {
  readonly event: {
    readonly type: 'event'
    readonly name: string
    readonly anonymous: boolean
    readonly inputs: readonly (AbiParameter & { readonly indexed: boolean })[]
  }
  readonly signature: string
  readonly topics: readonly Hex[]
  readonly data: Hex
  /** The list `arguments`. */
  readonly expected: readonly object[]
}

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes))
const isElementary = (type: string): boolean => /^(?:u?int\d+|bytes\d+|address|bool)$/.test(type)

const anyInput: fc.Arbitrary<FilledInput> = fc
  .tuple(anyParameter, fc.oneof(fc.constant(''), anyName), fc.option(hash))
  .map(([{ parameter, value }, name, hashed]) => {
    const named = { ...parameter, name }
    if (hashed === null) return { parameter: named, value, topic: null }
    // viem encodes no hashes of lists and tuples; the lens hands on whatever stands in the topic.
    const topic = isElementary(parameter.type) ? encodeAbiParameters([named], [value]) : hashed
    return { parameter: named, value, topic }
  })

/** An event of one of three names, so that overloads occur. */
export const anyEvent: fc.Arbitrary<FilledEvent> = fc
  .tuple(
    fc.constantFrom('Moved', 'Swapped$1', '_made'),
    fc.nat({ max: 9 }).map((one) => one === 0),
    fc.array(anyInput, { maxLength: 6 }),
  )
  .map(([name, anonymous, wished]) => toEvent(name, anonymous, withTopicsFor(wished, anonymous)))

/** The inputs with no more topics than a log has. */
function withTopicsFor(inputs: readonly FilledInput[], anonymous: boolean): FilledInput[] {
  let left = anonymous ? 4 : 3
  return inputs.map((input) => {
    if (input.topic === null || left === 0) return { ...input, topic: null }
    left -= 1
    return input
  })
}

function toEvent(name: string, anonymous: boolean, inputs: readonly FilledInput[]): FilledEvent {
  const event = {
    type: 'event' as const,
    name,
    anonymous,
    inputs: inputs.map(({ parameter, topic }) => ({ ...parameter, indexed: topic !== null })),
  }
  const topics = inputs.flatMap(({ topic }) => topic ?? [])
  const others = inputs.filter(({ topic }) => topic === null)
  const parameters = others.map(({ parameter }) => parameter)
  const data = encodeAbiParameters(
    parameters,
    others.map(({ value }) => value),
  )
  const decoded = parameters.length === 0 ? [] : decodeAbiParameters(parameters, data)
  return {
    event,
    signature: toEventSignature(event),
    topics: anonymous ? topics : [toEventSelector(event), ...topics],
    data,
    expected: [
      ...inputs.flatMap(expectedIndexed),
      ...parameters.map((parameter, place) => expectedArgument(parameter, decoded[place])),
    ],
  }
}

function expectedIndexed({ parameter, topic }: FilledInput): object[] {
  if (topic === null) return []
  if (!isElementary(parameter.type))
    return [{ name: parameter.name, type: parameter.type, value: topic, hashed: true }]
  return [expectedArgument(parameter, decodeAbiParameters([parameter], topic)[0])]
}

function expectedArgument(parameter: AbiParameter, value: unknown): object {
  return { name: parameter.name, type: parameter.type, value: expectedValue(parameter, value) }
}
