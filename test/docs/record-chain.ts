/**
 * Writes the chain that the examples in `docs` are asked of, to test/fixtures/chain/development.json: the first blocks
 * of a development chain as anvil returns them, and the block that takes the place of the last one. Run by hand,
 * `npx node test/docs/record-chain.ts`, when the load of the development chain changes; every answer of the pages
 * changes with it.
 */
import { writeFileSync } from 'node:fs'
import { planBlock, tokenCreation } from '../../src/devnet/load.ts'
import type { RpcBlock } from '../../src/primitives/rpc-block.ts'
import { startAnvil } from '../support/chain/anvil.ts'

/** Blocks of load above the one that creates the token. */
const loadedBlocks = 6
const firstTimestamp = 1_767_225_600

const anvil = await startAnvil({ args: ['--no-mining', '--timestamp', String(firstTimestamp)] })
const accounts = await anvil.rpc<`0x${string}`[]>('eth_accounts')
let height = 0

async function mine(transactions: readonly object[]): Promise<object> {
  for (const one of transactions) await anvil.rpc('eth_sendTransaction', one)
  height++
  await anvil.rpc('evm_setNextBlockTimestamp', firstTimestamp + 12 * height)
  await anvil.rpc('evm_mine')
  const block = await anvil.rpc<RpcBlock>('eth_getBlockByNumber', `0x${height.toString(16)}`, true)
  const hashes = (block.transactions ?? []).map(({ hash }) => hash)
  const receipts = hashes.map((hash) => anvil.rpc('eth_getTransactionReceipt', hash))
  return { block, receipts: await Promise.all(receipts) }
}

const blocks = [await mine([tokenCreation(accounts)])]
for (let n = 1; n < loadedBlocks; n++) blocks.push(await mine(planBlock(accounts, n)))
const below = await anvil.rpc('evm_snapshot')
blocks.push(await mine(planBlock(accounts, loadedBlocks)))
await anvil.rpc('evm_revert', below)
height--
const replacement = await mine(planBlock(accounts, loadedBlocks).slice(0, 3))
await anvil.close()

const path = new URL('../fixtures/chain/development.json', import.meta.url)
const lines = blocks.map((one) => JSON.stringify(one)).join(',\n')
writeFileSync(
  path,
  `{"blocks":[\n${lines}\n],\n"replacement":\n${JSON.stringify(replacement)}\n}\n`,
)
