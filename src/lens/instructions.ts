/**
 * Goes through the instructions of a function: those of WebAssembly 2.0 without a second memory, and tail calls. All
 * others are refused: atomics and relaxed SIMD differ between machines, and garbage-collected values and exceptions
 * live where no limit of a lens reaches.
 */
import {
  type ModuleReader,
  readByte,
  readU32,
  refusedModule,
  skip,
  skipLeb,
} from './module-reader.ts'

type Immediates = (reader: ModuleReader) => void

/** Value types: i32, i64, f32, f64, v128, funcref, externref. */
const valueTypes: ReadonlySet<number> = new Set([0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f])

/** @throws ServiceError `LENS_MODULE_REFUSED` where it is none of WebAssembly 2.0. */
export function readValueType(reader: ModuleReader): number {
  const type = readByte(reader)
  if (!valueTypes.has(type)) throw refusedModule(`the value type ${hex(type)} is not accepted`)
  return type
}

/** The control flow of a function, which costs a compiler memory for every local variable. */
interface ControlFlow {
  /** How deep blocks are nested. */
  depth: number
  /** Blocks, and places where one is left or another begins. */
  branches: number
}

/** @throws ServiceError `LENS_MODULE_REFUSED` at the first instruction that is not accepted. */
export function checkInstructions(reader: ModuleReader): ControlFlow {
  const flow = { depth: 0, branches: 0 }
  let open = 0
  while (reader.at < reader.end) {
    const at = reader.at
    const opcode = readByte(reader)
    const immediates = plain[opcode]
    if (immediates === undefined) throw refusedAt(at, hex(opcode), families[opcode])
    if (blocks.has(opcode)) open += 1
    if (opcode === end) open -= 1
    flow.depth = Math.max(flow.depth, open)
    flow.branches += opcode === branchTable ? countTargets(reader) : Number(branching.has(opcode))
    immediates(reader)
  }
  return flow
}

const blocks: ReadonlySet<number> = new Set([0x02, 0x03, 0x04])
const end = 0x0b
const branchTable = 0x0e

/** Blocks, `else`, `br`, `br_if` and `return`. */
const branching: ReadonlySet<number> = new Set([...blocks, 0x05, 0x0c, 0x0d, 0x0f])

function countTargets(reader: ModuleReader): number {
  return readU32({ ...reader }) + 1
}

/** What refused opcodes belong to. */
const families: Readonly<Record<number, string>> = {
  6: 'exceptions',
  7: 'exceptions',
  8: 'exceptions',
  9: 'exceptions',
  10: 'exceptions',
  24: 'exceptions',
  25: 'exceptions',
  31: 'exceptions',
  251: 'garbage collection',
  254: 'atomics',
}

function refusedAt(at: number, name: string, family: string = 'no part of WebAssembly 2.0'): Error {
  return refusedModule(
    `the instruction ${name} at byte ${at} is not accepted (${family})`,
    'Compile it without that feature of WebAssembly.',
  )
}

const hex = (value: number): string => `0x${value.toString(16).padStart(2, '0')}`
const none: Immediates = () => undefined
const index: Immediates = (reader) => void readU32(reader)
const two: Immediates = (reader) => {
  index(reader)
  index(reader)
}
const bytes =
  (count: number): Immediates =>
  (reader) =>
    skip(reader, count)

/** Alignment and offset; with bit 6 of the first it would name another memory. */
const memoryArgument: Immediates = (reader) => {
  const at = reader.at
  if (readU32(reader) >= 64) throw refusedAt(at, 'of another memory', 'more than one memory')
  index(reader)
}

/** Nothing (0x40), a value type, or the index of a type: another negative number would be a type of WebAssembly 3.0. */
const blockType: Immediates = (reader) => {
  const first = readByte(reader)
  reader.at -= 1
  if (first === 0x40) return skip(reader, 1)
  if (first < 0x80 && (first & 0x40) !== 0) return void readValueType(reader)
  index(reader)
}

const branchTargets: Immediates = (reader) => {
  for (let left = readU32(reader); left >= 0; left -= 1) index(reader)
}

const typedSelect: Immediates = (reader) => {
  for (let left = readU32(reader); left > 0; left -= 1) readValueType(reader)
}

const memoryIndex: Immediates = (reader) => {
  const at = reader.at
  if (readByte(reader) !== 0) throw refusedAt(at, 'of another memory', 'more than one memory')
}

/** 0xFC: saturating conversions, and what works on whole memories and tables. */
const bulk: Immediates = (reader) => {
  const at = reader.at
  const opcode = readU32(reader)
  const immediates = bulkInstructions[opcode]
  if (immediates === undefined) throw refusedAt(at, `0xfc ${opcode}`)
  immediates(reader)
}

const bulkInstructions: readonly Immediates[] = [
  ...Array.from({ length: 8 }, () => none),
  (reader) => {
    index(reader)
    memoryIndex(reader)
  },
  index,
  (reader) => {
    memoryIndex(reader)
    memoryIndex(reader)
  },
  memoryIndex,
  two,
  index,
  two,
  index,
  index,
  index,
]

/** 0xFD: fixed-width SIMD; from 0x100 on its results differ between machines. */
const vector: Immediates = (reader) => {
  const at = reader.at
  const opcode = readU32(reader)
  if (opcode > 0xff) throw refusedAt(at, `0xfd ${opcode}`, 'relaxed SIMD')
  if (opcode <= 11 || opcode === 92 || opcode === 93) return memoryArgument(reader)
  if (opcode === 12 || opcode === 13) return skip(reader, 16)
  if (opcode >= 21 && opcode <= 34) return skip(reader, 1)
  if (opcode >= 84 && opcode <= 91) {
    memoryArgument(reader)
    skip(reader, 1)
  }
}

const heapType: Immediates = (reader) => {
  const type = readByte(reader)
  if (type !== 0x70 && type !== 0x6f)
    throw refusedModule(`the heap type ${hex(type)} is not accepted`)
}

/** What follows an opcode that is more than an operation on numbers or an access to memory. */
const specials: ReadonlyMap<number, Immediates> = new Map([
  ...[0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1].map((opcode) => [opcode, none] as const),
  ...[0x02, 0x03, 0x04].map((opcode) => [opcode, blockType] as const),
  ...[0x0c, 0x0d, 0x10, 0x12, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0xd2].map(
    (opcode) => [opcode, index] as const,
  ),
  ...[0x11, 0x13].map((opcode) => [opcode, two] as const),
  ...[0x3f, 0x40].map((opcode) => [opcode, memoryIndex] as const),
  [branchTable, branchTargets],
  [0x1c, typedSelect],
  [0x41, (reader) => skipLeb(reader, 32)],
  [0x42, (reader) => skipLeb(reader, 64)],
  [0x43, bytes(4)],
  [0x44, bytes(8)],
  [0xd0, heapType],
  [0xfc, bulk],
  [0xfd, vector],
])

/** What follows each opcode of one byte; undefined for one that is not accepted. */
const plain: readonly (Immediates | undefined)[] = Array.from({ length: 256 }, (_, opcode) =>
  immediatesOf(opcode),
)

function immediatesOf(opcode: number): Immediates | undefined {
  const special = specials.get(opcode)
  if (special !== undefined) return special
  if (opcode >= 0x28 && opcode <= 0x3e) return memoryArgument
  return opcode >= 0x45 && opcode <= 0xc4 ? none : undefined
}
