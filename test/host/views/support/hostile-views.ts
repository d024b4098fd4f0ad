/** Views whose lenses do what they can against the Host that serves them. */
import { encodeView } from '../../../../src/views/wire.ts'
import { buildLens, op } from '../../../lens/support/lens.ts'

const forever = [...op.forever(), ...op.const(0)]
const grow = op.forever([...op.const(64), ...op.memoryGrow, ...op.drop])
const hostile: Readonly<Record<string, Parameters<typeof buildLens>[0]>> = {
  LoopsAtStart: { start: op.forever() },
  LoopsInTransform: { transform: forever },
  Grows: { pages: [1, 1_024], transform: [...grow, ...op.const(0)] },
  Traps: { transform: op.unreachable },
  PointsOutside: { transform: op.const(-8) },
}

/** A View with a row for each block, made by a lens of these parts. */
export function viewOfLens(name: string, parts: Parameters<typeof buildLens>[0] = {}): Uint8Array {
  return encodeView({
    query: 'Block { number }',
    sdl: `type ${name} { number: Int }`,
    lenses: [{ wasm: buildLens(parts), args: '{"a":"1"}' }],
  })
}

/** The wire bytes of each, none of which ever has a row. */
export function hostileViews(): readonly Uint8Array[] {
  return Object.entries(hostile).map(([name, parts]) => viewOfLens(name, parts))
}
