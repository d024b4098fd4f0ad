/** Lenses against processes and Hosts that take more than a line to write. */
import { at, buildLens, op } from './lens.ts'
import { body, list, section } from './module.ts'

/** Parts of one that asks for a larger table for ever, and traps where it has one at last. */
export const growsTable: Parameters<typeof buildLens>[0] = {
  tables: [[0x70, 0, 1]],
  transform: [
    ...op.forever([
      ...op.tableGrow(1),
      ...op.const(-1),
      ...op.equal,
      ...op.isZero,
      ...op.when(op.unreachable),
    ]),
    ...op.const(0),
  ],
}

/** The code of a lens that hands on what it is given, and traps where that is nil. */
export const trapOnNil: readonly number[] = [
  ...op.callNext,
  ...op.set(0),
  ...op.get(0),
  ...op.load8,
  ...op.isZero,
  ...op.when(op.unreachable),
  ...op.get(0),
]

/** Writes to every page of 64 MiB for each document. */
export const greedy: Uint8Array<ArrayBuffer> = buildLens({
  pages: [1_024, 1_024],
  transform: [
    ...op.const(0),
    ...op.set(0),
    ...op.forever([
      ...op.get(0),
      ...op.const(65_536),
      ...op.add,
      ...op.const(1),
      ...op.store8,
      ...op.get(0),
      ...op.const(4_096),
      ...op.add,
      ...op.set(0),
      ...op.get(0),
      ...op.const(1_022 * 65_536 - 1),
      ...op.greater,
      ...op.when([...op.callNext, ...op.return]),
    ]),
    ...op.const(0),
  ],
})

/** Functions that are valid, and take a compiler hundreds of megabytes each: values on the stack of nested blocks. */
export function compileBomb(): Uint8Array {
  const depth = 7_000
  const values = 8_000
  const code = [
    ...Array.from({ length: values }, () => [0x41, 0]).flat(),
    ...Array.from({ length: depth }, () => [0x41, 1, 0x04, 0x40]).flat(),
    ...Array.from({ length: depth }, () => 0x0b),
    ...Array.from({ length: values - 1 }, () => 0x1a),
  ]
  const bytes = [...buildLens()]
  const before = Uint8Array.from(bytes.slice(0, sectionAt(bytes, 10)))
  const i32 = 0x7f
  const functions = [
    body(op.const(1_024), [[2, i32]]),
    body(code, [[3, i32]]),
    body(op.const(at.nil), [[2, i32]]),
    body([]),
  ]
  return Buffer.concat([before, Uint8Array.from(section(10, list(...functions)))])
}

/** Where a section of a module begins. */
function sectionAt(bytes: readonly number[], number: number): number {
  let place = 8
  while (bytes[place] !== number) {
    let length = 0
    let next = place + 1
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[next] ?? 0
      next += 1
      length += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    place = next + length
  }
  return place
}
