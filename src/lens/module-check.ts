/**
 * Looks through a module before it is compiled. Refused is what would reach beyond the limits of a lens, or make two
 * machines see different things; the greatest sizes of memory and tables are set to what a lens may have. What lenses
 * have together is for `checkModules`.
 */
import { checkInstructions, readValueType } from './instructions.ts'
import {
  abiRemedy,
  type ModuleReader,
  readByte,
  readName,
  readPart,
  readU32,
  refusedModule,
} from './module-reader.ts'

/** What a module may grow to. */
interface ModuleLimits {
  /** Pages of 64 KiB. */
  readonly memoryPages: number
  /** Entries of a table. */
  readonly tableEntries: number
  /** Bytes of one function: compilers take far more than linear memory for a long one. */
  readonly functionBytes: number
  /** Local variables of a function times how deep its blocks are nested: what a compiler keeps at the same time. */
  readonly nestedVariables: number
  /** Local variables of a function times its blocks and branches: what a compiler may write for it. */
  readonly branchedVariables: number
  /** Types, functions, globals, exports, and segments of elements and data, of each; also notes of a compiler. */
  readonly entries: number
}

/** Those of runtime version 1; lenses can see them, so that another value is another version. */
export const moduleLimits: ModuleLimits = {
  memoryPages: 1024,
  tableEntries: 65_536,
  functionBytes: 64 * 1024,
  nestedVariables: 1_000_000,
  branchedVariables: 16_000_000,
  entries: 10_000,
}

const header = '0061736d01000000'
const maxTables = 8
const maxParameters = 100

/** Numbers of sections in their order (core specification, 5.5.2; 12 comes before 10). */
const order = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11]
const custom = 0

/** Distinguished from other refusals by the fact `import`. */
const noImport = (): Error =>
  refusedModule('it does not import lens.next', abiRemedy, { import: 'lens.next' })

/**
 * The module with its sizes bounded. What it leaves to the compiler is whether the module is valid otherwise.
 * @throws ServiceError `LENS_MODULE_REFUSED`
 */
export function checkModule(
  wasm: Uint8Array,
  limits: ModuleLimits = moduleLimits,
): Uint8Array<ArrayBuffer> {
  const reader: ModuleReader = { bytes: wasm, at: 0, end: wasm.length }
  const first = readPart(reader, 8)
  if (Buffer.from(wasm.buffer, wasm.byteOffset, first.end).toString('hex') !== header)
    throw refusedModule('it does not begin as WebAssembly of version 1 does')
  const found = new Map<number, Uint8Array>()
  const parts: Uint8Array[] = [wasm.subarray(0, 8)]
  let notes = 0
  let last = -1
  while (reader.at < reader.end) {
    const number = readByte(reader)
    const section = readPart(reader, readU32(reader))
    if (number === custom) {
      notes += 1
      checkCount(notes, 'custom sections', limits)
      continue
    }
    const place = order.indexOf(number)
    if (place < 0)
      throw refusedModule(`it has a section ${number}${number === 13 ? ' (tags)' : ''}`)
    if (place <= last)
      throw refusedModule(`section ${number} is in the wrong place, or there twice`)
    last = place
    const content = checkSection(number, section, limits)
    found.set(number, content)
    parts.push(Uint8Array.of(number), unsigned(content.length), content)
  }
  if (!found.has(2)) throw noImport()
  if (!found.has(5)) throw refusedModule('it has no memory', abiRemedy)
  return new Uint8Array(Buffer.concat(parts))
}

/** What there may be many of, by the number of its section. Tables, memories and imports have limits of their own. */
const counted: Readonly<Record<number, string>> = {
  1: 'types',
  3: 'functions',
  6: 'globals',
  7: 'exports',
  9: 'segments of elements',
  10: 'bodies of functions',
  11: 'segments of data',
}

/** By the number that stands before them, so that no long list is gone through. */
function checkCount(count: number, what: string, { entries }: ModuleLimits): void {
  if (count > entries)
    throw refusedModule(
      `it has ${count} ${what}, and ${entries} are accepted`,
      'Let the compiler leave out what the lens does not use.',
    )
}

type SectionCheck = (section: ModuleReader, limits: ModuleLimits) => Uint8Array | undefined

function checkSection(number: number, section: ModuleReader, limits: ModuleLimits): Uint8Array {
  const { bytes, at, end } = section
  const what = counted[number]
  if (what !== undefined) checkCount(readU32({ bytes, at, end }), what, limits)
  const checks = sections[number]
  if (checks === undefined) return bytes.subarray(at, end)
  const content = checks(section, limits) ?? bytes.subarray(at, end)
  if (section.at !== end) throw refusedModule(`section ${number} is longer than what is in it`)
  return content
}

const sections: Readonly<Record<number, SectionCheck>> = {
  1: checkTypes,
  2: checkImports,
  4: boundTables,
  5: boundMemory,
  10: checkCode,
}

/** Functions alone: other types are objects of a heap that has no limit of its own. */
function checkTypes(section: ModuleReader): undefined {
  for (let left = readU32(section); left > 0; left -= 1) {
    const form = readByte(section)
    if (form !== 0x60)
      throw refusedModule(`it declares a type of form ${form}, which is not a function`)
    for (let list = 0; list < 2; list += 1) {
      const count = readU32(section)
      if (count > maxParameters)
        throw refusedModule(
          `it has a function of ${count} parameters or results, and ${maxParameters} are accepted`,
        )
      for (let left = count; left > 0; left -= 1) readValueType(section)
    }
  }
}

/** There is one at most, so that the second shows what is wrong. */
function checkImports(section: ModuleReader): undefined {
  const count = readU32(section)
  for (let left = Math.min(count, 2); left > 0; left -= 1) {
    const name = `${readName(section)}.${readName(section)}`
    const kind = readByte(section)
    if (name !== 'lens.next' || kind !== 0)
      throw refusedModule(
        `it imports ${JSON.stringify(name.slice(0, 80))}, and a lens has nothing but the function lens.next`,
        `Build it without a runtime that needs imports. ${abiRemedy}`,
      )
    readU32(section)
  }
  if (count === 0) throw noImport()
  if (count > 1) throw refusedModule('it imports lens.next more than once', abiRemedy)
}

/** A table stays as large as it begins: compilers let none grow, and what it takes is known before anything runs. */
function boundTables(section: ModuleReader, { tableEntries }: ModuleLimits): Uint8Array {
  const count = readU32(section)
  if (count > maxTables)
    throw refusedModule(`it has ${count} tables, and ${maxTables} are accepted`)
  const tables = Array.from({ length: count }, () => {
    const type = readByte(section)
    if (type !== 0x70 && type !== 0x6f) throw refusedModule(`it has a table of type ${type}`)
    const { least, greatest } = readLimits(section, tableEntries, 'a table of', 'entries')
    return [Uint8Array.of(type), encodeSizes(least, Math.min(greatest, least))]
  })
  return Buffer.concat([unsigned(count), ...tables.flat()])
}

function boundMemory(section: ModuleReader, { memoryPages }: ModuleLimits): Uint8Array {
  const count = readU32(section)
  if (count !== 1) throw refusedModule(`it has ${count} memories, and a lens has one`, abiRemedy)
  const { least, greatest } = readLimits(section, memoryPages, 'a memory of', 'pages')
  return Buffer.concat([unsigned(1), encodeSizes(least, Math.min(greatest, memoryPages))])
}

interface Sizes {
  readonly least: number
  /** `most` where the module names none. */
  readonly greatest: number
}

/** Refuses a least size above `most`. */
function readLimits(section: ModuleReader, most: number, what: string, unit: string): Sizes {
  const flags = readByte(section)
  if (flags > 1)
    throw refusedModule(`it has a memory or table that is shared or of 64 bits (flags ${flags})`)
  const least = readU32(section)
  const greatest = flags === 1 ? readU32(section) : most
  if (least > most)
    throw refusedModule(
      `it begins with ${what} ${least} ${unit}, and ${most} are accepted`,
      'Make it smaller.',
      { [unit]: least },
    )
  return { least, greatest }
}

const encodeSizes = (least: number, greatest: number): Uint8Array =>
  Buffer.concat([Uint8Array.of(1), unsigned(least), unsigned(greatest)])

function checkCode(section: ModuleReader, limits: ModuleLimits): undefined {
  for (let left = readU32(section); left > 0; left -= 1)
    checkFunction(readPart(section, readU32(section)), limits)
}

/** Parameters are variables too, but `checkTypes` accepts few. */
function checkFunction(body: ModuleReader, limits: ModuleLimits): void {
  const refuse = (what: string, remedy: string): Error =>
    refusedModule(`the function at byte ${start} ${what}`, remedy)
  const start = body.at
  const size = body.end - start
  if (size > limits.functionBytes)
    throw refuse(
      `has ${size} bytes, and ${limits.functionBytes} are accepted`,
      'Let the compiler inline less, or keep constants in data.',
    )
  let variables = 0
  for (let groups = readU32(body); groups > 0; groups -= 1) {
    variables += readU32(body)
    readValueType(body)
  }
  const { depth, branches } = checkInstructions(body)
  const isAccepted =
    variables * depth <= limits.nestedVariables && variables * branches <= limits.branchedVariables
  if (isAccepted) return
  throw refuse(
    `has ${variables} local variables, in blocks nested ${depth} deep with ${branches} branches, which takes a compiler too much memory`,
    'Let the compiler optimise the lens, and inline less.',
  )
}

/** LEB128, as short as it gets. */
function unsigned(value: number): Uint8Array {
  const bytes: number[] = []
  let left = value
  do {
    const low = left % 128
    left = Math.floor(left / 128)
    bytes.push(left > 0 ? low | 0x80 : low)
  } while (left > 0)
  return Uint8Array.from(bytes)
}
