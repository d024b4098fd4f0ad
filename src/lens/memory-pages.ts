/** How far the memory of a lens may grow. */
import { readByte, readSections, readU32 } from './module-reader.ts'

const memorySection = 5

/** Pages of 64 KiB; `module` has gone through `checkModule`, which gives every memory a greatest size. */
export function mostMemoryPages(module: Uint8Array): number {
  const reader = readSections(module).get(memorySection)
  if (reader === undefined) return 0
  readU32(reader)
  readByte(reader)
  readU32(reader)
  return readU32(reader)
}
