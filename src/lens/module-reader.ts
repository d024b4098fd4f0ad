/** Reads the binary format of WebAssembly (https://webassembly.github.io/spec/core/binary/) out of a stranger's bytes. */
import { type Fact, ServiceError } from '../errors.ts'

/** A place in a module; nothing at or after `end` is read. */
export interface ModuleReader {
  readonly bytes: Uint8Array
  at: number
  readonly end: number
}

/** What to do about a module that imports or exports something else. */
export const abiRemedy =
  'A lens imports the function lens.next alone, has one memory, and exports it as memory, with the functions alloc and transform, and set_param for arguments: viewmesh lens new makes a project that does.'

/** Why a module is refused. */
export function refusedModule(
  what: string,
  remedy: string = 'Build the lens again, with a compiler that makes WebAssembly 2.0.',
  facts: Readonly<Record<string, Fact>> = {},
): ServiceError {
  return new ServiceError('LENS_MODULE_REFUSED', `the module of a lens is refused: ${what}`, {
    facts,
    remedy,
  })
}

/** @throws ServiceError `LENS_MODULE_REFUSED` where nothing is left, as all of these. */
export function readByte(reader: ModuleReader): number {
  const byte = reader.at < reader.end ? reader.bytes[reader.at] : undefined
  if (byte === undefined) throw refusedModule(`it ends within something, at byte ${reader.at}`)
  reader.at += 1
  return byte
}

/** An unsigned LEB128 of 32 bits: at most five bytes. */
export function readU32(reader: ModuleReader): number {
  let value = 0
  for (let place = 0; place < 5; place += 1) {
    const byte = readByte(reader)
    value += (byte & 0x7f) * 2 ** (7 * place)
    if (byte < 0x80) {
      if (value > 0xffff_ffff) break
      return value
    }
  }
  throw refusedModule(`a number at byte ${reader.at} has more than 32 bits`)
}

/** Goes past a signed LEB128 of so many bits. */
export function skipLeb(reader: ModuleReader, bits: 32 | 64): void {
  for (let place = 0; place < Math.ceil(bits / 7); place += 1) if (readByte(reader) < 0x80) return
  throw refusedModule(`a number at byte ${reader.at} has more than ${bits} bits`)
}

/** Goes past so many bytes. */
export function skip(reader: ModuleReader, count: number): void {
  if (count > reader.end - reader.at)
    throw refusedModule(`it ends within something, at byte ${reader.end}`)
  reader.at += count
}

/** A reader for the next so many bytes, which this one goes past. */
export function readPart(reader: ModuleReader, length: number): ModuleReader {
  const start = reader.at
  skip(reader, length)
  return { bytes: reader.bytes, at: start, end: reader.at }
}

const names = new TextDecoder()

/** A name: its length and UTF-8, which is not checked. */
export function readName(reader: ModuleReader): string {
  const part = readPart(reader, readU32(reader))
  return names.decode(part.bytes.subarray(part.at, part.end))
}

/** The sections of a module that has gone through `checkModule`, by their numbers. */
export function readSections(bytes: Uint8Array): ReadonlyMap<number, ModuleReader> {
  const reader: ModuleReader = { bytes, at: 8, end: bytes.length }
  const sections = new Map<number, ModuleReader>()
  while (reader.at < reader.end) sections.set(readByte(reader), readPart(reader, readU32(reader)))
  return sections
}
