/** Views whose lenses do what they can against the Host that serves them. */
import { encodeView } from '../../../../src/views/wire.ts'
import { compileBomb } from '../../../lens/support/hostile-lenses.ts'
import { buildLens, itemOf, op } from '../../../lens/support/lens.ts'

const forever = [...op.forever(), ...op.const(0)]
const grow = op.forever([...op.const(64), ...op.memoryGrow, ...op.drop])
const place = 2_048
const hostile: Readonly<Record<string, Uint8Array>> = {
  LoopsAtStart: buildLens({ start: op.forever() }),
  LoopsInAlloc: buildLens({ alloc: forever }),
  LoopsInSetParam: buildLens({ setParam: forever }),
  LoopsInTransform: buildLens({ transform: forever }),
  Grows: buildLens({ pages: [1, 1_024], transform: [...grow, ...op.const(0)] }),
  Traps: buildLens({ transform: op.unreachable }),
  PointsOutside: buildLens({ transform: op.const(-8) }),
  EndsOutside: buildLens({ transform: [...itemOf(1, place, -1), ...op.const(place)] }),
  HasCorruptHeaders: buildLens({ transform: [...itemOf(77, place, 4), ...op.const(place)] }),
  CallsItself: buildLens({ transform: [...op.callNext, ...op.drop, ...op.callTransform] }),
  IsHardToCompile: compileBomb(),
}

/** A View with a row for each block, made by this lens. */
export function viewOfLens(name: string, wasm: Uint8Array = buildLens()): Uint8Array {
  return encodeView({
    query: 'Block { number }',
    sdl: `type ${name} { number: Int }`,
    lenses: [{ wasm, args: '{"a":"1"}' }],
  })
}

/** The wire bytes of each, none of which ever has a row. */
export function hostileViews(): readonly Uint8Array[] {
  return Object.entries(hostile).map(([name, wasm]) => viewOfLens(name, wasm))
}
