/**
 * What somebody without an accepted key can make of an honest Generator's messages: each one altered, cut,
 * spliced and replayed, and others that are well-formed and validly signed by keys nobody accepts.
 */
import type { DigestSigner } from '../../../src/identity/signature.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import { encodeSealedBlock } from '../../../src/primitives/sealed-block.ts'
import { encodeSealsAnswer } from '../../../src/primitives/vote-exchange.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import {
  sealBlock,
  signSeal,
  type TestSealedBlock,
  testSigner,
} from '../../support/chain/sealed-blocks.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'

export type HostileKind = 'block' | 'head' | 'seals'

export interface HostileMessage {
  readonly kind: HostileKind
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** What an honest Generator has said so far. */
interface HonestMessages {
  readonly network: string
  readonly blocks: readonly TestSealedBlock[]
  readonly heads: readonly Uint8Array[]
}

const farHeights = [0, 1, 7, 1_000, 2 ** 31 - 1]
/** Statements of strangers that are signed once and sent in ever new messages. */
const maxSigned = 2_000

/**
 * A source of messages, each another one; the same for the same random numbers. What the Generator says
 * later may be added to `honest` meanwhile.
 */
export function createHostileMessages(
  random: SeededRandom,
  honest: HonestMessages,
): () => HostileMessage {
  const { network, blocks, heads } = honest
  const strangers = Array.from({ length: 32 }, (_, index) => testSigner(`stranger:${index}`))
  const stranger = (): DigestSigner => random.pick(strangers)
  const madeUp = farHeights
    .flatMap((from) => createChain({ seed: `at-${from}`, count: 1, from, shape: shapes.tiny }))
    .map((block) => sealBlock(block, stranger(), network))
  const target = (): TestSealedBlock => random.pick(random.int(4) === 0 ? madeUp : blocks)

  const strangersSeal = signedOnce(random, () => {
    const { number, hash, cids } = target()
    const documents = random.int(2) === 0 ? cids : [random.bytes(36)]
    return signSeal({ network, number, hash, cids: documents }, stranger())
  })
  const strangersHead = signedOnce(random, () => {
    const number = random.pick([...farHeights, random.int(2 ** 31)])
    const sequence = Date.now() + random.int(1000)
    return headMessage(stranger(), { network, number, hash: random.hex(32), sequence })
  })
  const strangersSeals = (count: number): Seal[] => Array.from({ length: count }, strangersSeal)
  const forgedSeal = (): Seal => ({
    ...strangersSeal(),
    signatureIdentity: random.pick(blocks).seal.signatureIdentity,
  })
  const blockOf = (seals: readonly Seal[], body: Uint8Array | null): HostileMessage => ({
    kind: 'block',
    bytes: Uint8Array.from(encodeSealedBlock(seals, body)),
  })

  const makers: (() => HostileMessage)[] = [
    () => ({ kind: 'block', bytes: altered(random, random.pick(blocks).bytes) }),
    () => ({
      kind: 'block',
      bytes: spliced(random, random.pick(blocks).bytes, random.pick(heads)),
    }),
    () => blockOf(strangersSeals(1), target().body),
    () => blockOf(strangersSeals(1 + random.int(20)), null),
    () => blockOf([forgedSeal()], random.int(2) === 0 ? null : target().body),
    () => {
      const { seal, body } = random.pick(blocks)
      return blockOf([seal, ...strangersSeals(20)], random.int(2) === 0 ? body : target().body)
    },
    () => ({ kind: 'head', bytes: altered(random, random.pick(heads)) }),
    () => ({ kind: 'head', bytes: new Uint8Array(random.bytes(random.int(400))) }),
    () => ({ kind: 'head', bytes: Uint8Array.from(random.pick(heads)) }),
    () => ({ kind: 'head', bytes: Uint8Array.from(strangersHead()) }),
    () => {
      const seals = [random.pick(blocks).seal, ...strangersSeals(random.int(60))]
      return { kind: 'seals', bytes: Uint8Array.from(encodeSealsAnswer({ seals, more: true })) }
    },
    () => {
      const answer = encodeSealsAnswer({ seals: [random.pick(blocks).seal], more: false })
      return { kind: 'seals', bytes: altered(random, answer) }
    },
  ]
  return () => random.pick(makers)()
}

/**
 * Messages of which each is signed by a key of its own: blocks of chains of their own, seals of the honest
 * blocks, and heads anywhere. All of them are good where anyone is accepted.
 */
export function createManyKeys(
  random: SeededRandom,
  { network, blocks }: HonestMessages,
): () => HostileMessage {
  let keys = 0
  const signer = (): DigestSigner => {
    keys += 1
    return testSigner(`key:${keys}`, 'Ed25519')
  }
  const block = signedOnce(random, (): HostileMessage => {
    const from = 1 + random.int(1_000)
    const chain = createChain({ seed: `chain:${keys}`, count: 1, from, shape: shapes.tiny })
    const [{ bytes }] = chain.map((own) => sealBlock(own, signer(), network)) as [TestSealedBlock]
    return { kind: 'block', bytes: Uint8Array.from(bytes) }
  })
  const sealOf = ({ number, hash, cids }: TestSealedBlock): Seal =>
    signSeal({ network, number, hash, cids }, signer())
  const votes = signedOnce(random, (): HostileMessage => {
    const target = random.pick(blocks)
    const seals = Array.from({ length: 10 }, () => sealOf(target))
    return { kind: 'block', bytes: Uint8Array.from(encodeSealedBlock(seals, null)) }
  })
  /** Each key signs two heads with one sequence. */
  let speaker: DigestSigner | null = null
  const head = signedOnce(random, (): HostileMessage => {
    const own = speaker ?? signer()
    speaker = speaker === null ? own : null
    const statement = { network, number: random.int(2 ** 31), hash: random.hex(32), sequence: 7 }
    return { kind: 'head', bytes: Uint8Array.from(headMessage(own, statement)) }
  })
  const seals = signedOnce(random, (): HostileMessage => {
    const answer = { seals: blocks.slice(0, 20).map(sealOf), more: true }
    return { kind: 'seals', bytes: Uint8Array.from(encodeSealsAnswer(answer)) }
  })
  return () => random.pick([block, votes, head, seals])()
}

/** Makes new ones up to `maxSigned`, and then picks among them. */
function signedOnce<T>(random: SeededRandom, make: () => T): () => T {
  const made: T[] = []
  return () => {
    if (made.length === maxSigned) return random.pick(made)
    const one = make()
    made.push(one)
    return one
  }
}

/** A few bytes changed, the end cut off, or something added to it. */
function altered(random: SeededRandom, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = Uint8Array.from(bytes)
  const way = random.int(6)
  if (way === 0) return copy.slice(0, random.int(copy.length))
  if (way === 1) return Uint8Array.from(Buffer.concat([copy, random.bytes(1 + random.int(40))]))
  for (let change = 0; change <= random.int(8); change += 1) {
    copy[random.int(Math.min(copy.length, way === 2 ? copy.length : 300))] = random.int(256)
  }
  return copy
}

function spliced(
  random: SeededRandom,
  one: Uint8Array,
  other: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    Buffer.concat([
      one.subarray(0, random.int(one.length)),
      other.subarray(random.int(other.length)),
    ]),
  )
}
