/**
 * `npm run crash -- --rounds N`: kills Generator and Host in turn with SIGKILL at random moments while blocks come,
 * are reorganised and are pruned, N times each. What was there before a kill is there after it, and after every round
 * both keep exactly what the node has, document by document: no half block, no lost one, none that the node left.
 */
import { deepStrictEqual } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readHeldBlocks, storeDifferences } from '../../support/chain/held-blocks.ts'
import { openMining } from '../../support/chain/mining.ts'
import { startMovingChain } from '../../support/chain/moving-chain.ts'
import { readTrueBlocks } from '../../support/chain/node-truth.ts'
import { type Program, type ProgramPlace, pause, prepareProgram } from '../../support/programs.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: 'crash' },
  },
})
const rounds = Number(values.rounds)
const { seed } = values
const random = createSeededRandom(seed)
const network = 'Ethereum__Mainnet'
/** A kill comes at most this long after the program was started. */
const longestLifeMs = 1_500
/** Newest blocks that are kept: a few rounds of them. */
const retainBlocks = 80
/** Newest blocks that are looked at before a kill and after it. */
const rememberedBlocks = 16
const timeoutMs = 60_000
const maxDifferences = 20

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

async function untilAtHead(program: Program): Promise<void> {
  const deadline = performance.now() + timeoutMs
  const due = chain.head().number
  for (;;) {
    const { head, gaps } = await program.health()
    const [newest] = (await readHeldBlocks(program, due, due)).values()
    if (head === due && gaps.length === 0 && newest?.hash === chain.head().hash) {
      if (newest.seals.length === 1) return
    }
    if (performance.now() > deadline) throw new Error(`height ${due} did not arrive: ${head}`)
    await pause(50)
  }
}

/** What a program keeps sealed just before it is killed is there when it is back, unless the node left it. */
async function killAndReturn(program: Program): Promise<void> {
  await pause(random.int(longestLifeMs))
  const newest = (await program.health()).head ?? 1
  const from = Math.max(1, newest - rememberedBlocks + 1)
  const before = await readHeldBlocks(program, from, newest)
  await program.kill()
  await program.start()
  const after = await readHeldBlocks(program, from, newest)
  const tail = (await program.health()).tail ?? 0
  for (const [height, block] of before) {
    const isDue = block.seals.length > 0 && height >= tail && !chain.wasLeft(block.hash)
    if (isDue) deepStrictEqual(after.get(height), block, `height ${height}`)
  }
}

/** Holds the chain and compares all that is kept. */
async function compareAll(): Promise<void> {
  await mining.hold()
  const to = chain.head().number
  const from = Math.max(1, to - retainBlocks + 1)
  const blocks = await readTrueBlocks(chain.anvil, network, { from, to })
  const identity = (await generator.health()).identity ?? ''
  for (const program of [generator, host]) {
    await untilAtHead(program)
    const differences = await storeDifferences(program, blocks, [identity])
    deepStrictEqual(differences.slice(0, maxDifferences), [])
  }
  compared += blocks.reduce((sum, { documents }) => sum + documents.size, 0)
}

const folder = mkdtempSync(join(tmpdir(), 'viewmesh-crash-'))
const settings = { PRUNER_MAX_BLOCKS: `${retainBlocks}`, LOG_LEVEL: 'info' }
const placeOf = (name: string): ProgramPlace => ({
  folder: join(folder, name),
  log: join(folder, `${name}.log`),
})
say(`seed ${seed}; stores and logs are in ${folder} until all is done`)
let compared = 0
const chain = await startMovingChain({ groups: 1, random: createSeededRandom(`${seed} chain`) })
const generator = await prepareProgram(
  'generator',
  {
    NODE_RPC_URL: chain.anvil.url,
    NODE_WS_URL: chain.anvil.wsUrl,
    GENERATOR_START_HEIGHT: '1',
    ...settings,
  },
  placeOf('generator'),
)
await generator.start()
const peerId = (await generator.health()).p2p.self?.id ?? ''
const host = await prepareProgram(
  'host',
  { BOOTSTRAP_PEERS: generator.peerAddress(peerId), ...settings },
  placeOf('host'),
)
await host.start()
const mining = openMining(chain, createSeededRandom(`${seed} mining`))
for (let round = 1; round <= rounds; round++) {
  mining.go()
  for (const program of [generator, host]) await killAndReturn(program)
  await compareAll()
  if (round % 10 === 0 || round === rounds)
    say(`${round} of ${rounds} rounds: block ${chain.head().number}, nothing lost, nothing half`)
}
const { blocks } = chain.figures
const { reorganisations } = mining.figures
say(`${2 * rounds} kills, ${blocks} blocks, ${reorganisations} reorganisations: what was kept`)
say(`after each round, ${compared} documents in all, equals the node's at Generator and Host`)
await host.close()
await generator.close()
await chain.close()
rmSync(folder, { recursive: true })
