/** Lenses written by hand: a module with the functions of the ABI, and instructions by their names. */
import { body, leb, list, next, section, sized } from './module.ts'

type Code = readonly number[]

/** A signed LEB128. */
function signed(value: number): number[] {
  const low = value & 0x7f
  const rest = value >> 7
  const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)
  return isLast ? [low] : [low | 0x80, ...signed(rest)]
}

/** Instructions on i32 values. */
export const op = {
  const: (value: number): number[] => [0x41, ...signed(value)],
  get: (local: number): number[] => [0x20, local],
  set: (local: number): number[] => [0x21, local],
  getGlobal: (index: number): number[] => [0x23, index],
  setGlobal: (index: number): number[] => [0x24, index],
  /** Functions are numbered so: next, alloc, transform, set_param, start. */
  callNext: [0x10, 0],
  callTransform: [0x10, 2],
  load8: [0x2d, 0, 0],
  load32: [0x28, 0, 0],
  store8: [0x3a, 0, 0],
  store32: [0x36, 0, 0],
  add: [0x6a],
  subtract: [0x6b],
  multiply: [0x6c],
  equal: [0x46],
  greater: [0x4b],
  isZero: [0x45],
  shiftRight16: [0x41, 16, 0x76],
  memorySize: [0x3f, 0],
  memoryGrow: [0x40, 0],
  /** Asks for further entries of the first table, which hold no function. */
  tableGrow: (entries: number): number[] => [0xd0, 0x70, 0x41, ...signed(entries), 0xfc, 15, 0],
  drop: [0x1a],
  return: [0x0f],
  unreachable: [0x00],
  /** Runs the code for ever. */
  forever: (code: Code = []): number[] => [0x03, 0x40, ...code, 0x0c, 0, 0x0b],
  /** Runs the code where the value on the stack is not zero. */
  when: (code: Code): number[] => [0x04, 0x40, ...code, 0x0b],
} as const

/** Puts a byte of the item whose address is in the first local on the stack. */
export function byteOfItem(offset: number): number[] {
  return [...op.get(0), ...op.const(offset), ...op.add, ...op.load8]
}

/** Addresses of items that are in the memory from the beginning. */
export const at = { nil: 8, end: 9, error: 16, text: 256 } as const
const heapStart = 1_024

/** Globals: the end of the heap, and two for a lens's own use, 0 at first. */
export const globals = { heap: 0, first: 1, second: 2 } as const

/** Bytes of an item with a type and a text. */
export function item(type: number, text: string): number[] {
  const bytes = [...Buffer.from(text)]
  return [type & 0xff, bytes.length & 0xff, bytes.length >> 8, 0, 0, ...bytes]
}

/** Writes the header of an item with a length of its payload. */
export const itemOf = (type: number, address: number, length?: number): number[] => [
  ...op.const(address),
  ...op.const(type),
  ...op.store8,
  ...(length === undefined ? [] : [...op.const(address + 1), ...op.const(length), ...op.store32]),
]

interface LensParts {
  /** `() -> i32` with three local variables, 0 to 2. */
  readonly transform?: Code
  /** `(i32) -> i32`, the number of bytes in variable 0, two more beside it. */
  readonly alloc?: Code
  /** `(i32) -> i32`: the address in variable 0. */
  readonly setParam?: Code
  /** `() -> ()`, run as the start section. */
  readonly start?: Code
  /** Least and greatest number of pages. */
  readonly pages?: readonly [number, number]
  /** Further names under which \`transform\` is exported. */
  readonly exports?: readonly string[]
  /** Types and sizes of tables. */
  readonly tables?: readonly Code[]
  /** Bytes at `at.text`, below the heap. */
  readonly text?: Code
  /** Names of exports instead of `alloc`, `transform` and `set_param`; null leaves one out. */
  readonly names?: readonly (string | null)[]
}

/** Takes the next bytes of the heap and lets the memory grow where they do not fit. */
const bump: Code = [
  ...op.getGlobal(globals.heap),
  ...op.set(1),
  ...op.get(1),
  ...op.get(0),
  ...op.add,
  ...op.setGlobal(globals.heap),
  ...op.getGlobal(globals.heap),
  ...op.const(65_535),
  ...op.add,
  ...op.shiftRight16,
  ...op.memorySize,
  ...op.subtract,
  ...op.set(2),
  ...op.get(2),
  ...op.const(0),
  0x4a,
  ...op.when([...op.get(2), ...op.memoryGrow, ...op.drop]),
  ...op.get(1),
]

const i32 = 0x7f

/** A lens; without parts it returns each document as it is and begins again after the end of a stream. */
export function buildLens(parts: LensParts = {}): Uint8Array<ArrayBuffer> {
  const { transform = op.callNext, alloc = bump, setParam = op.const(at.nil), start } = parts
  const names = parts.names ?? ['alloc', 'transform', 'set_param']
  const [least, greatest] = parts.pages ?? [1, 1_024]
  const data = [...[0, 127, 0, 0, 0, 0, 0, 0], ...item(-1, 'no such property')]
  const exported = names.flatMap((name, index) =>
    name === null ? [] : [[...sized(name), 0, index + 1]],
  )
  const further = (parts.exports ?? []).map((name) => [...sized(name), 0, 2])
  const global = (value: number): number[] => [i32, 1, ...op.const(value), 0x0b]
  const segment = (address: number, bytes: Code): number[] => [
    0,
    ...op.const(address),
    0x0b,
    ...sized(bytes),
  ]
  const types = [
    [0x60, 0, 1, i32],
    [0x60, 1, i32, 1, i32],
    [0x60, 0, 0],
  ]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, list(...types)),
    ...section(2, list(next)),
    ...section(3, list([1], [0], [1], [2])),
    ...(parts.tables === undefined ? [] : section(4, list(...parts.tables))),
    ...section(5, list([1, ...leb(least), ...leb(greatest)])),
    ...section(6, list(global(heapStart), global(0), global(0))),
    ...section(7, list([...sized('memory'), 2, 0], ...further, ...exported)),
    ...(start === undefined ? [] : section(8, [4])),
    ...section(
      10,
      list(
        body(alloc, [[2, i32]]),
        body(transform, [[3, i32]]),
        body(setParam, [[2, i32]]),
        body(start ?? []),
      ),
    ),
    ...section(11, list(segment(at.nil, data), segment(at.text, parts.text ?? []))),
  ])
}

/** A `transform` that returns the end of the stream for ever once it came, without asking. */
export const terminal: Code = [
  ...op.getGlobal(globals.first),
  ...op.when([...op.const(at.end), ...op.return]),
  ...op.callNext,
  ...op.set(0),
  ...op.get(0),
  ...op.load8,
  ...op.const(127),
  ...op.equal,
  ...op.setGlobal(globals.first),
  ...op.get(0),
]
