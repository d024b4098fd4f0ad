/** Views whose lenses do what they can against the Host that serves them. */
import { encodeView } from '../../../../../src/views/wire.ts'
import { compileBomb, growsTable, trapOnNil } from '../../../../lens/support/hostile-lenses.ts'
import { at, buildLens, globals, itemOf, op } from '../../../../lens/support/lens.ts'

const forever = [...op.forever(), ...op.const(0)]
const grow = op.forever([...op.const(64), ...op.memoryGrow, ...op.drop])
const place = 2_048
const hostile: Readonly<Record<string, Uint8Array>> = {
  LoopsAtStart: buildLens({ start: op.forever() }),
  LoopsInAlloc: buildLens({ alloc: forever }),
  LoopsInSetParam: buildLens({ setParam: forever }),
  LoopsInTransform: buildLens({ transform: forever }),
  Grows: buildLens({ pages: [1, 1_024], transform: [...grow, ...op.const(0)] }),
  GrowsItsTable: buildLens(growsTable),
  AllocatesOutside: buildLens({ alloc: op.const(-1) }),
  IsNilForEver: buildLens({ transform: op.const(at.nil) }),
  Traps: buildLens({ transform: op.unreachable }),
  PointsOutside: buildLens({ transform: op.const(-8) }),
  EndsOutside: buildLens({ transform: [...itemOf(1, place, -1), ...op.const(place)] }),
  HasCorruptHeaders: buildLens({ transform: [...itemOf(77, place, 4), ...op.const(place)] }),
  CallsItself: buildLens({ transform: [...op.callNext, ...op.drop, ...op.callTransform] }),
  IsHardToCompile: compileBomb(),
}

/** A View with a row for each block, made by these lenses. */
function viewOfLens(name: string, ...modules: Uint8Array[]): Uint8Array {
  return encodeView({
    query: 'Block { number }',
    sdl: `type ${name} { number: Int }`,
    lenses: modules.map((wasm) => ({ wasm, args: '{"a":"1"}' })),
  })
}

const page = 65_536
const fill = [...op.const(page), ...op.const(1), ...op.const(1_023 * page), 0xfc, 0x0b, 0]
const nilFirst = [
  ...op.getGlobal(globals.first),
  ...op.isZero,
  ...op.when([...op.const(1), ...op.setGlobal(globals.first), ...op.const(at.nil), ...op.return]),
  ...op.callNext,
]
/** Those that have a row for each block beside the others. */
export const harmlessViews: Readonly<Record<string, Uint8Array>> = {
  /** Its second lens would trap at the nil of the first, and is never given it. */
  TrapsOnNil: viewOfLens(
    'TrapsOnNil',
    buildLens({ transform: nilFirst }),
    buildLens({ transform: trapOnNil }),
  ),
  /** It leaves 64 MiB that are full behind with each block. */
  Leaks: viewOfLens(
    'Leaks',
    buildLens({ pages: [1_024, 1_024], transform: [...fill, ...op.callNext] }),
  ),
  Good: viewOfLens('Good', buildLens()),
}

/** The wire bytes of each, none of which ever has a row. */
export function hostileViews(): readonly Uint8Array[] {
  return Object.entries(hostile).map(([name, wasm]) => viewOfLens(name, wasm))
}
