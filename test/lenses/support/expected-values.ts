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

/**
 * The list `arguments` of an event, indexed ones first. viem gives values the names of their parameters, or a list
 * where one has no name.
 */
export function expectedArguments({ inputs }: AbiEvent, args: object): object[] {
  const values = new Map(Object.entries(args))
  const keyOf = (input: AbiParameter): string =>
    Array.isArray(args) ? String(inputs.indexOf(input)) : (input.name ?? '')
  const ordered = [true, false].flatMap((wanted) =>
    inputs.filter(({ indexed = false }) => indexed === wanted),
  )
  return ordered.map((input) => ({
    name: input.name,
    type: input.type,
    value: expectedValue(input, values.get(keyOf(input))),
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
