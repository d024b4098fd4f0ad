/**
 * What a Host served from its first answer on, looked at answer by answer: no height has two blocks, each block stands
 * on the one below, what belongs to a block is answered with it, and no block goes that the node did not leave.
 */

/** The newest blocks of one answer, and the transactions of some of them. */
export interface ServedAnswer {
  readonly Block: readonly ServedBlock[]
  readonly Transaction: readonly { readonly blockNumber: number; readonly blockHash: string }[]
}

export interface ServedBlock {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
}

interface ServedChain {
  /** Looks at the next answer; tells what is wrong with it. */
  add(answer: ServedAnswer): string[]
  /** Hashes of everything that was ever answered. */
  readonly hashes: ReadonlySet<string>
}

/** Nothing was served yet. `wasLeft` tells whether the node once had a block and has it no more. */
export function createServedChain(wasLeft: (hash: string) => boolean): ServedChain {
  const hashes = new Set<string>()
  let before: readonly ServedBlock[] = []
  return {
    hashes,
    add: (answer) => {
      const blocks = answer.Block.toSorted((a, b) => a.number - b.number)
      const gone = goneBlocks(before, blocks).filter(({ hash }) => !wasLeft(hash))
      for (const { hash } of blocks) hashes.add(hash)
      before = blocks
      return [
        ...chainFaults(blocks),
        ...strayTransactions(answer),
        ...gone.map(({ number, hash }) => `block ${number} (${hash}) is served no more`),
      ]
    },
  }
}

/** Blocks of an answer that the next one lacks, except those below its lowest. */
function goneBlocks(
  before: readonly ServedBlock[],
  now: readonly ServedBlock[],
): readonly ServedBlock[] {
  const lowest = now[0]?.number ?? 0
  const there = new Set(now.map(({ hash }) => hash))
  return before.filter(({ number, hash }) => number >= lowest && !there.has(hash))
}

function chainFaults(blocks: readonly ServedBlock[]): string[] {
  return blocks.flatMap((block, index) => {
    const below = blocks[index - 1]
    if (below === undefined) return []
    const { number, hash } = block
    if (number === below.number) return [`height ${number} is served twice: ${below.hash}, ${hash}`]
    if (number !== below.number + 1) return [`block ${number} is served above ${below.number}`]
    if (block.parentHash === below.hash) return []
    return [`block ${number} (${hash}) stands on ${block.parentHash}, served is ${below.hash}`]
  })
}

/** Transactions of blocks that are not there, among the blocks that were asked for. */
function strayTransactions({ Block, Transaction }: ServedAnswer): string[] {
  const lowest = Math.min(...Block.map(({ number }) => number))
  const there = new Set(Block.map(({ hash }) => hash))
  const stray = Transaction.filter(
    ({ blockNumber, blockHash }) => blockNumber >= lowest && !there.has(blockHash),
  )
  const hashes = new Set(stray.map(({ blockHash }) => blockHash))
  return [...hashes].map((hash) => `transactions are served without their block ${hash}`)
}
