/** Modules of WebAssembly, written section by section. */

type Bytes = readonly number[]

/** An unsigned LEB128. */
export function leb(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...leb(Math.floor(value / 128))]
}

/** How many there are, and each. */
export const list = (...items: readonly Bytes[]): number[] => [
  ...leb(items.length),
  ...items.flat(),
]

/** A name or bytes, with their length. */
export const sized = (content: string | Bytes): number[] => {
  const bytes = typeof content === 'string' ? [...Buffer.from(content)] : content
  return [...leb(bytes.length), ...bytes]
}

/** A section with its number. */
export const section = (number: number, content: Bytes): number[] => [number, ...sized(content)]

/** A function with its local variables: its instructions without the last `end`. */
export const body = (instructions: Bytes, locals: readonly Bytes[] = []): number[] =>
  sized([...list(...locals), ...instructions, 0x0b])

/** The parts of a module that a test may replace; null leaves a section out. */
interface Parts {
  readonly types?: readonly Bytes[]
  readonly imports?: readonly Bytes[] | null
  readonly tables?: readonly Bytes[]
  readonly memories?: readonly Bytes[] | null
  readonly code?: Bytes
  /** Written after everything else. */
  readonly after?: Bytes
}

export const next: readonly number[] = [...sized('lens'), ...sized('next'), 0x00, 0x00]
const i32 = 0x7f

/** A module with the import of a lens, a memory and one function `() -> i32`, exported as `transform`. */
export function buildModule(parts: Parts = {}): Uint8Array<ArrayBuffer> {
  const {
    types = [[0x60, 0, 1, i32]],
    imports = [next],
    tables,
    memories = [[0, 1]],
    code,
    after = [],
  } = parts
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, list(...types)),
    ...(imports === null ? [] : section(2, list(...imports))),
    ...section(3, list([0])),
    ...(tables === undefined ? [] : section(4, list(...tables))),
    ...(memories === null ? [] : section(5, list(...memories))),
    ...section(
      7,
      list([...sized('memory'), 2, 0], [...sized('transform'), 0, imports === null ? 0 : 1]),
    ),
    ...section(10, list(body(code ?? [0x41, 0]))),
    ...after,
  ])
}
