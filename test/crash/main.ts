/**
 * `npm run crash -- --rounds N`: kills Generator and Host in turn with SIGKILL at random moments
 * while blocks flow, N times each. After every round each block is compared with the node, document
 * by document and CID by CID: no half block, no lost sealed block, one seal per block and identity.
 */
import { deepStrictEqual } from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { planBlock, tokenCreation } from '../../src/devnet/load.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type Program, pause, prepareProgram } from '../support/programs.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { compareWithNode, programContent } from './truth.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: 'crash' },
  },
})
const rounds = Number(values.rounds)
const random = createSeededRandom(values.seed)
/** A kill comes at most this long after the program was started. */
const longestLifeMs = 1_500
/** Blocks compared after each round; all of them are at the end. */
const comparedBlocks = 60
const timeoutMs = 60_000

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Mines blocks of every kind of transaction until it is stopped. */
function openMining(anvil: Anvil): { stop(): Promise<void> } {
  let running = true
  const mining = (async () => {
    const accounts = await anvil.rpc<`0x${string}`[]>('eth_accounts')
    await anvil.rpc('eth_sendTransaction', tokenCreation(accounts))
    await anvil.rpc('evm_setAutomine', false)
    for (let n = 1; running; n++) {
      for (const transaction of planBlock(accounts, n))
        await anvil.rpc('eth_sendTransaction', transaction)
      await anvil.rpc('evm_mine')
      await pause(40)
    }
  })()
  return {
    async stop() {
      running = false
      await mining
    },
  }
}

async function nodeHead(anvil: Anvil): Promise<number> {
  return Number(await anvil.rpc<string>('eth_blockNumber'))
}

async function untilSealedAt(program: Program, height: number): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const { head, gaps } = await program.health()
    if ((head ?? 0) >= height && gaps.length === 0) {
      const content = await programContent(program, height, height)
      if (content.get(height)?.seals.length === 1) return
    }
    if (Date.now() > deadline) throw new Error(`height ${height} did not arrive: ${head}`)
    await pause(50)
  }
}

/** What a program holds just before it is killed must be there, seal by seal, when it is back. */
async function killAndReturn(program: Program): Promise<void> {
  await pause(random.int(longestLifeMs))
  const { head } = await program.health()
  const newest = head ?? 1
  const oldest = Math.max(1, newest - 5)
  const before = [...(await programContent(program, oldest, newest))].filter(
    ([, { seals }]) => seals.length > 0,
  )
  await program.kill()
  await program.start()
  const after = await programContent(program, oldest, newest)
  for (const [height, content] of before) deepStrictEqual(after.get(height), content)
}

async function compareNewest(anvil: Anvil, programs: readonly Program[]): Promise<void> {
  const head = await nodeHead(anvil)
  for (const program of programs) {
    await untilSealedAt(program, head)
    await compareWithNode(anvil, program, Math.max(1, head - comparedBlocks), head)
  }
}

const anvil = await startAnvil()
const generator = await prepareProgram('generator', {
  NODE_RPC_URL: anvil.url,
  NODE_WS_URL: anvil.wsUrl,
  GENERATOR_START_HEIGHT: '1',
  PRUNER_ENABLED: 'false',
})
await generator.start()
const peerId = (await generator.health()).p2p.self?.id ?? ''
const host = await prepareProgram('host', {
  BOOTSTRAP_PEERS: generator.peerAddress(peerId),
  PRUNER_ENABLED: 'false',
})
await host.start()
const mining = openMining(anvil)
for (let round = 1; round <= rounds; round++) {
  for (const program of [generator, host]) await killAndReturn(program)
  await compareNewest(anvil, [generator, host])
  if (round % 10 === 0 || round === rounds)
    say(`${round} of ${rounds} rounds: ${await nodeHead(anvil)} blocks, nothing lost, nothing half`)
}
await mining.stop()
const head = await nodeHead(anvil)
for (const program of [generator, host]) {
  await untilSealedAt(program, head)
  for (let from = 1; from <= head; from += comparedBlocks)
    await compareWithNode(anvil, program, from, Math.min(head, from + comparedBlocks - 1))
}
say(`all ${head} blocks equal the node's at Generator and Host after ${2 * rounds} kills`)
await host.close()
await generator.close()
await anvil.close()
