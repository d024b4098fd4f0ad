/** Lenses with bytes changed at random, the same ones for the same seed; most of them are valid WebAssembly still. */
import { checkModule } from '../../../src/lens/module-check.ts'
import { readSections } from '../../../src/lens/module-reader.ts'
import { readLens } from '../../lenses/support/fed-lens.ts'
import { createSeededRandom, type SeededRandom } from '../../support/seeded-random.ts'
import { buildLens, terminal } from './lens.ts'

const shipped = [
  'decode_call',
  'decode_log',
  'erc20_balances',
  'erc20_transfers',
  'filter',
  'filter_transaction',
] as const

export type OriginalLens = 'identity' | 'terminal' | (typeof shipped)[number]

/** Without custom sections, in which a change changes nothing. */
const originals: ReadonlyMap<OriginalLens, Uint8Array<ArrayBuffer>> = new Map([
  ['identity', buildLens()] as const,
  ['terminal', buildLens({ transform: terminal, start: [0x01] })] as const,
  ...shipped.map((name) => [name, checkModule(readLens(name))] as const),
])

interface FuzzedLens {
  readonly original: OriginalLens
  readonly wasm: Uint8Array<ArrayBuffer>
}

/** Changes of each that leave it valid. */
const validChanges = 3
const codeSection = 10

/** All originals in turn. Half of them are broken after what leaves them valid. */
export function fuzzedLenses(seed: string, count: number): FuzzedLens[] {
  const all = [...originals]
  return Array.from({ length: count }, (_, index) => {
    const random = createSeededRandom(`${seed}:${index}`)
    const [original, whole] = random.pick(all)
    const valid = changedLens(whole, random)
    const cut = valid.slice(0, 8 + random.int(valid.length - 8))
    const wrong = withWrongByte(valid, random)
    return { original, wasm: random.pick([valid, valid, valid, cut, cut, wrong]) }
  })
}

interface Place {
  readonly at: number
  readonly end: number
}

function changedLens(
  original: Uint8Array<ArrayBuffer>,
  random: SeededRandom,
): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(original)
  const sections = readSections(original)
  const code = sections.get(codeSection)
  if (code === undefined) throw new Error('a lens has functions')
  const all: readonly Place[] = [...sections.values()]
  for (let changes = 0; changes < validChanges; ) {
    const { at, end } = random.int(4) === 0 ? random.pick(all) : code
    const place = at + random.int(end - at)
    const before = bytes[place] ?? 0
    bytes[place] = changedByte(before, random)
    if (bytes[place] !== before && WebAssembly.validate(bytes)) changes += 1
    else bytes[place] = before
  }
  return bytes
}

/** Another value, a neighbour, or one bit: types of values and similar instructions lie beside one another. */
function changedByte(before: number, random: SeededRandom): number {
  return random.pick([random.int(256), before + 1, before - 1, before ^ (1 << random.int(8))]) & 255
}

function withWrongByte(
  valid: Uint8Array<ArrayBuffer>,
  random: SeededRandom,
): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(valid)
  bytes[8 + random.int(valid.length - 8)] = random.int(256)
  return bytes
}
