/** What a module takes when it runs. It has gone through `checkModule`, which bounds all sizes. */
import { readByte, readSections, readU32 } from './module-reader.ts'

const tableSection = 4
const memorySection = 5
const exportSection = 7

/** How far its memory may grow, in pages of 64 KiB. */
export function mostMemoryPages(module: Uint8Array): number {
  const reader = readSections(module).get(memorySection)
  if (reader === undefined) return 0
  readU32(reader)
  readByte(reader)
  readU32(reader)
  return readU32(reader)
}

/** Entries of all its tables, which stay as large as they begin. */
export function countTableEntries(module: Uint8Array): number {
  const reader = readSections(module).get(tableSection)
  if (reader === undefined) return 0
  let entries = 0
  for (let left = readU32(reader); left > 0; left -= 1) {
    // Its type, and that a greatest size follows the least.
    readByte(reader)
    readByte(reader)
    entries += readU32(reader)
    readU32(reader)
  }
  return entries
}

export function countExports(module: Uint8Array): number {
  const reader = readSections(module).get(exportSection)
  return reader === undefined ? 0 : readU32(reader)
}
