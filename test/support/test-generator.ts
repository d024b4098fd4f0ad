/** Plays a Generator on the mesh: seals blocks of a made-up chain, publishes and serves them, signs heads. */
import type { TestContext } from 'node:test'
import type { DigestSigner } from '../../src/identity/signature.ts'
import { proveIdentity } from '../../src/mesh/identity-proof.ts'
import { createVoteResponder } from '../../src/mesh/vote-responder.ts'
import type { P2pParts } from '../../src/p2p/p2p.ts'
import type { Seal } from '../../src/primitives/seal.ts'
import { encodeSealedBlock } from '../../src/primitives/sealed-block.ts'
import type { ChainBlock } from './chain/block-factory.ts'
import { sealBlock, type TestSealedBlock, testSigner } from './chain/sealed-blocks.ts'
import { headMessage } from './chain/signed-heads.ts'
import { heightsOf, openRoom, type TestRoom } from './p2p-room.ts'

export interface TestGenerator {
  readonly room: TestRoom
  readonly signer: DigestSigner
  /** What it serves now, by height. */
  readonly chain: Map<number, TestSealedBlock>
  /** Every seal it ever made. */
  readonly seals: readonly Seal[]
  /** Serves these blocks too, in the place of others at their heights. */
  add(blocks: readonly ChainBlock[]): TestSealedBlock[]
  /** Serves these blocks and gossips each of them, its head first. */
  publish(blocks: readonly ChainBlock[]): Promise<void>
  /** Serves these blocks and gossips their seals alone. */
  publishSeals(blocks: readonly ChainBlock[]): Promise<void>
  /** Gossips its head: the highest block that it serves. */
  publishHead(): Promise<void>
  /** Serves nothing above this height any more. */
  dropAbove(height: number): void
}

interface TestGeneratorSetup {
  /** Height of its node's head. By default its own. */
  readonly nodeHeight?: () => number
  readonly room?: Parameters<typeof openRoom>[1]
}

const network = 'Local__Devnet'

/** Opens a Generator; `name` decides who it is. */
export async function openTestGenerator(
  t: TestContext,
  name: string,
  blocks: readonly ChainBlock[] = [],
  setup: TestGeneratorSetup = {},
): Promise<TestGenerator> {
  const signer = testSigner(name, 'Ed25519')
  const chain = new Map<number, TestSealedBlock>()
  const seals: Seal[] = []
  let sequence = Date.now()
  const heights = (): number[] => [...chain.keys()].sort((a, b) => a - b)
  /** A new one each time, as a Generator signs one every few seconds. */
  const newestHead = (): Uint8Array | null => {
    const top = chain.get(heights().at(-1) ?? -1)
    if (top === undefined) return null
    sequence += 1
    const { number, hash } = top
    const nodeHeight = setup.nodeHeight?.() ?? number
    return headMessage(signer, { network, number, hash, sequence, nodeHeight })
  }
  const source: P2pParts['source'] = {
    range: () => {
      const [tail] = heights()
      const head = heights().at(-1)
      return tail === undefined || head === undefined ? null : { tail, head }
    },
    heights: (from, to, limit) => heightsOf(chain, from, to).slice(0, limit),
    sealedBlock: (height) => chain.get(height)?.bytes ?? null,
  }
  const votes = createVoteResponder({
    reader: { read: (look) => look(snapshotOf(seals)) },
    heads: () => [newestHead()].filter((head) => head !== null),
  })
  const room = await openRoom(t, {
    options: { network },
    source,
    ...setup.room,
    answers: { identity: () => proofOf(signer, room.id), votes, ...setup.room?.answers },
  })
  const add = (added: readonly ChainBlock[]): TestSealedBlock[] => {
    const sealed = added.map((block) => sealBlock(block, signer, network))
    for (const block of sealed) {
      chain.set(block.number, block)
      seals.push(block.seal)
    }
    return sealed
  }
  const publishHead = async (): Promise<void> => {
    const head = newestHead()
    if (head !== null) await room.p2p.publishHead(head)
  }
  const publishEach = async (
    added: readonly ChainBlock[],
    message: (block: TestSealedBlock) => Uint8Array,
  ): Promise<void> => {
    for (const block of added) {
      for (const sealed of add([block])) {
        await publishHead()
        await room.p2p.publish(message(sealed))
      }
    }
  }
  add(blocks)
  return {
    room,
    signer,
    chain,
    seals,
    add,
    publishHead,
    publish: (added) => publishEach(added, ({ bytes }) => bytes),
    publishSeals: (added) => publishEach(added, ({ seal }) => encodeSealedBlock([seal], null)),
    dropAbove: (height) => {
      for (const known of [...chain.keys()]) if (known > height) chain.delete(known)
    },
  }
}

/** Proves the identity of a made-up Generator to whoever is connected with its peer ID. */
export function proofOf(
  signer: DigestSigner,
  peerId: string,
  role: 'generator' | 'host' = 'generator',
): Uint8Array {
  return proveIdentity(signer, { network, role, peerId })
}

function snapshotOf(
  seals: readonly Seal[],
): Parameters<Parameters<Parameters<typeof createVoteResponder>[0]['reader']['read']>[0]>[0] {
  return {
    sealsOf: (hash) => seals.filter(({ blockHash }) => blockHash === hash),
    sealPlaces: (from, to) =>
      seals
        .filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to)
        .map(({ blockNumber, blockHash, merkleRoot, signatureIdentity }) => ({
          height: blockNumber,
          blockHash,
          merkleRoot,
          identity: signatureIdentity,
        }))
        .sort((a, b) => a.height - b.height || (a.blockHash < b.blockHash ? -1 : 1)),
  }
}
