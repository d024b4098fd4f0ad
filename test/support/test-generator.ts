/** Plays a Generator on the mesh: seals blocks of a made-up chain, publishes and serves them. */
import type { TestContext } from 'node:test'
import type { P2pParts } from '../../src/p2p/p2p.ts'
import { encodeSealedBlock } from '../../src/primitives/sealed-block.ts'
import type { ChainBlock } from './block-factory.ts'
import { heightsOf, openRoom, type TestRoom } from './p2p-room.ts'
import { sealBlock, type TestSealedBlock, testSigner } from './sealed-blocks.ts'

export interface TestGenerator {
  readonly room: TestRoom
  /** What it serves now, by height. */
  readonly chain: Map<number, TestSealedBlock>
  /** Serves these blocks too, in the place of others at their heights. */
  add(blocks: readonly ChainBlock[]): TestSealedBlock[]
  /** Serves these blocks and gossips each of them. */
  publish(blocks: readonly ChainBlock[]): Promise<void>
  /** Serves these blocks and gossips their seals alone. */
  publishSeals(blocks: readonly ChainBlock[]): Promise<void>
  /** Serves nothing above this height any more. */
  dropAbove(height: number): void
}

const network = 'Local__Devnet'

/** Opens a Generator; `name` decides who it is. */
export async function openTestGenerator(
  t: TestContext,
  name: string,
  blocks: readonly ChainBlock[] = [],
): Promise<TestGenerator> {
  const signer = testSigner(name, 'Ed25519')
  const chain = new Map<number, TestSealedBlock>()
  const source: P2pParts['source'] = {
    range: () => {
      const heights = [...chain.keys()]
      if (heights.length === 0) return null
      return { tail: Math.min(...heights), head: Math.max(...heights) }
    },
    heights: (from, to, limit) => heightsOf(chain, from, to).slice(0, limit),
    sealedBlock: (height) => chain.get(height)?.bytes ?? null,
  }
  const room = await openRoom(t, { options: { network }, source })
  const add = (added: readonly ChainBlock[]): TestSealedBlock[] => {
    const sealed = added.map((block) => sealBlock(block, signer, network))
    for (const block of sealed) chain.set(block.number, block)
    return sealed
  }
  add(blocks)
  return {
    room,
    chain,
    add,
    publish: async (added) => {
      for (const { bytes } of add(added)) await room.p2p.publish(bytes)
    },
    publishSeals: async (added) => {
      for (const { seal } of add(added)) await room.p2p.publish(encodeSealedBlock([seal], null))
    },
    dropAbove: (height) => {
      for (const known of [...chain.keys()]) if (known > height) chain.delete(known)
    },
  }
}
