/**
 * Compares the functions that a module imports and exports with the lens ABI, so that no call converts a value
 * of another type.
 */
import {
  type ModuleReader,
  readByte,
  readName,
  readPart,
  readSections,
  readU32,
  refusedModule,
} from './module-reader.ts'

/** The type of the parameter, a slash, the type of the result: value types of the binary format. */
const i32 = '7f'
const expected: Readonly<Record<string, string>> = {
  alloc: `${i32}/${i32}`,
  transform: `/${i32}`,
  set_param: `${i32}/${i32}`,
}

const section = { types: 1, imports: 2, functions: 3, exports: 7 } as const
const functionExport = 0

/**
 * `module` has gone through `checkModule`. Whether it exports what it has to is seen once it runs.
 * @throws ServiceError `LENS_MODULE_REFUSED`
 */
export function checkAbi(module: Uint8Array): void {
  const sections = readSections(module)
  const types = readTypes(sections.get(section.types))
  const imported = readImport(sections.get(section.imports))
  compare('lens.next', types[imported], `/${i32}`)
  const functions = [imported, ...readIndices(sections.get(section.functions))]
  for (const [name, index] of readExports(sections.get(section.exports))) {
    const wanted = Object.hasOwn(expected, name) ? expected[name] : undefined
    if (wanted !== undefined) compare(name, types[functions[index] ?? -1], wanted)
  }
}

function compare(name: string, found: string | undefined, wanted: string): void {
  if (found === wanted) return
  throw refusedModule(
    `its function ${name} has another type than that of the lens ABI`,
    'Build it with a lens SDK of 2024 or later: before, lenses took documents as parameters.',
  )
}

function readTypes(reader: ModuleReader | undefined): string[] {
  return readList(reader, (type) => {
    readByte(type)
    const parameters = valueType(readPart(type, readU32(type)))
    return `${parameters}/${valueType(readPart(type, readU32(type)))}`
  })
}

/** The one value type of a list, or what stands for none, or for several, which the ABI never has. */
function valueType({ bytes, at, end }: ModuleReader): string {
  if (at === end) return ''
  return end - at === 1 ? (bytes[at] ?? 0).toString(16) : 'several'
}

/** The index of the type of the one import. */
function readImport(reader: ModuleReader | undefined): number {
  const [index] = readList(reader, (entry) => {
    readName(entry)
    readName(entry)
    readByte(entry)
    return readU32(entry)
  })
  return index ?? -1
}

const readIndices = (reader: ModuleReader | undefined): number[] => readList(reader, readU32)

/** Names and indices of exported functions. */
function readExports(reader: ModuleReader | undefined): (readonly [string, number])[] {
  return readList(reader, (entry) => {
    const name = readName(entry)
    const kind = readByte(entry)
    return [kind, name, readU32(entry)] as const
  }).flatMap(([kind, name, index]) => (kind === functionExport ? [[name, index] as const] : []))
}

/** A vector: how many there are, and each. A section that is missing has none. */
function readList<T>(reader: ModuleReader | undefined, read: (reader: ModuleReader) => T): T[] {
  if (reader === undefined) return []
  const found: T[] = []
  for (let left = readU32(reader); left > 0; left -= 1) found.push(read(reader))
  return found
}
