/** What a decoding lens has to make of values, from what viem decodes. */
import type { AbiEvent, AbiParameter } from 'viem'

/** The JSON of a value: texts, lists of them, and objects for tuples. */
type Expected = string | readonly Expected[] | { readonly [name: string]: Expected }

/** A value as viem gives it for this parameter, as the lens writes it. */
export function expectedValue({ type, ...rest }: AbiParameter, value: unknown): Expected {
  const [, element] = /^(.*)\[\d*\]$/.exec(type) ?? []
  if (element !== undefined)
    return (value as unknown[]).map((each) => expectedValue({ ...rest, type: element }, each))
  if (type === 'tuple') return expectedTuple('components' in rest ? rest.components : [], value)
  return typeof value === 'string' && type !== 'string' ? value.toLowerCase() : String(value)
}

/** The list `arguments` of an event whose values have the names of its parameters: indexed ones first. */
export function expectedArguments(
  { inputs }: AbiEvent,
  args: Readonly<Record<string, unknown>>,
): object[] {
  const ordered = [true, false].flatMap((wanted) =>
    inputs.filter(({ indexed = false }) => indexed === wanted),
  )
  return ordered.map((input) => ({
    name: input.name,
    type: input.type,
    value: expectedValue(input, args[input.name ?? '']),
  }))
}

/** viem answers a list where a component has no name. */
function expectedTuple(components: readonly AbiParameter[], value: unknown): Expected {
  const values = value as Record<string, unknown>
  return Object.fromEntries(
    components.map((component, place) => [
      component.name || String(place),
      expectedValue(component, values[Array.isArray(value) ? place : (component.name ?? '')]),
    ]),
  )
}
