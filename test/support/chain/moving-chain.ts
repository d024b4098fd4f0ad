/**
 * A real node whose chain moves as a test wants it: blocks of every kind of transaction, short ones and ones too
 * large for gossip, and reorganisations. Remembers each block that ever was the node's, and which of them it left.
 */
import { planBlock, tokenCreation } from '../../../src/devnet/load.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { type Anvil, callNodes, startAnvil } from './anvil.ts'

interface ChainPlace {
  readonly number: number
  readonly hash: string
}

/** How the node leaves blocks: for as many empty ones at once, or for fewer, which grow from there. */
export const reorganisations = ['replaced', 'shortened'] as const
export type Reorganisation = (typeof reorganisations)[number]

export interface MovingChain {
  readonly anvil: Anvil
  /** Six to nine transactions of each group of ten accounts make a block. */
  mine(groups: number): Promise<void>
  /** Mines a block of more bytes than a gossip message may have. */
  mineBulky(): Promise<void>
  reorganise(depth: number, kind: Reorganisation): Promise<void>
  /** Mines until the chain is longer than it ever was: nobody gives blocks up for fewer. */
  outgrow(): Promise<void>
  head(): ChainPlace
  /** Whether the node ever had this block. */
  wasMined(hash: string): boolean
  /** Whether the node had this block and has it no more. */
  wasLeft(hash: string): boolean
  readonly figures: { readonly transactions: number; readonly blocks: number }
  close(): Promise<void>
}

interface MovingChainOptions {
  /** Groups of ten accounts that send. */
  readonly groups: number
  readonly random: SeededRandom
}

const groupSize = 10
/** Each sends some of the bytes of a bulky block: there is a limit to a transaction's gas. */
const bulkySenders = 3
const bulkyBytes = 400_000
/** More than calldata of all of them costs. */
const gasLimit = 200_000_000
const bulkyGas = '0xffffff'

interface MinedBlock extends ChainPlace {
  readonly transactions: readonly unknown[]
}

/** Starts the node, with a token for each group. */
export async function startMovingChain(options: MovingChainOptions): Promise<MovingChain> {
  const count = options.groups * groupSize + bulkySenders
  const anvil = await startAnvil({
    // Programs beside it keep the names that they have by default.
    args: [
      ...['--chain-id', '1'],
      '--no-mining',
      '--no-request-size-limit',
      ...['--accounts', `${count}`],
      ...['--gas-limit', `${gasLimit}`],
    ],
  })
  const accounts = await anvil.rpc<`0x${string}`[]>('eth_accounts')
  const groups = Array.from({ length: options.groups }, (_, index) =>
    accounts.slice(index * groupSize, (index + 1) * groupSize),
  )
  const figures = { transactions: 0, blocks: 0 }
  const byHeight = new Map<number, string>()
  /** Height of every block that ever was the node's. */
  const mined = new Map<string, number>()
  let head: ChainPlace = { number: -1, hash: '' }
  let highest = -1
  let planned = 0
  let last: Promise<unknown> = Promise.resolve()

  /** The node's calls come one after another: a block is mined of what was sent before. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }

  const note = async (height: number): Promise<void> => {
    const block = await readBlock(anvil, height)
    byHeight.set(height, block.hash)
    mined.set(block.hash, height)
    head = { number: block.number, hash: block.hash }
    highest = Math.max(highest, height)
    figures.blocks += 1
    figures.transactions += block.transactions.length
  }

  const mineOf = async (transactions: readonly unknown[]): Promise<void> => {
    await callNodes(
      anvil.url,
      transactions.map((transaction) => ['eth_sendTransaction', [transaction]]),
    )
    await anvil.rpc('evm_mine')
    await note(head.number + 1)
  }

  const leave = async (depth: number, kind: Reorganisation): Promise<void> => {
    const top = head.number
    for (let height = top - depth + 1; height <= top; height++) byHeight.delete(height)
    head = { number: top - depth, hash: byHeight.get(top - depth) ?? '' }
    if (kind === 'shortened') return void (await anvil.rpc('anvil_rollback', depth))
    await anvil.rpc('anvil_reorg', depth, [])
    for (let height = top - depth + 1; height <= top; height++) await note(height)
  }

  const mineGroups = async (wanted: number): Promise<void> => {
    const n = planned++
    await mineOf(groups.slice(0, wanted).flatMap((group) => planBlock(group, n)))
  }

  await note(0)
  await mineOf(groups.map(tokenCreation))
  return {
    anvil,
    figures,
    mine: (wanted) => inTurn(() => mineGroups(wanted)),
    mineBulky: () =>
      inTurn(async () => {
        const senders = accounts.slice(-bulkySenders)
        await mineOf(
          senders.map((from) => ({
            from,
            to: from,
            gas: bulkyGas,
            data: options.random.hex(bulkyBytes),
          })),
        )
      }),
    outgrow: () =>
      inTurn(async () => {
        for (const top = highest; head.number <= top; ) await mineGroups(1)
      }),
    reorganise: (depth, kind) => inTurn(() => leave(Math.min(depth, head.number - 1), kind)),
    head: () => head,
    wasMined: (hash) => mined.has(hash),
    wasLeft: (hash) => {
      const height = mined.get(hash)
      return height !== undefined && byHeight.get(height) !== hash
    },
    close: () => anvil.close(),
  }
}

async function readBlock(anvil: Anvil, height: number): Promise<MinedBlock> {
  const { number, hash, transactions } = await anvil.rpc<{
    readonly number: string
    readonly hash: string
    readonly transactions: readonly unknown[]
  }>('eth_getBlockByNumber', `0x${height.toString(16)}`, false)
  return { number: Number(number), hash, transactions }
}
