/** How a soak has to end: all have followed, nobody complains, and what all keep is what the node has. */
import { readHeldBlocks, storeDifferences } from '../support/chain/held-blocks.ts'
import type { MovingChain } from '../support/chain/moving-chain.ts'
import { readTrueBlocks } from '../support/chain/node-truth.ts'
import { pause } from '../support/programs.ts'
import { type Fleet, healthOf, type Member } from './fleet.ts'

/** Time in which all have followed once nothing goes wrong any more; votes are compared once a minute. */
const settleWithinMs = 150_000
/** Between two looks at the programs: they tell nobody that they have followed. */
const lookEveryMs = 250
const network = 'Ethereum__Mainnet'
/** Differences that are reported of one program. */
const maxDifferences = 20

/** Waits until all programs stand at the node's head, with all votes and without failures; tells who does not. */
export async function settle(fleet: Fleet, chain: MovingChain): Promise<string[]> {
  const deadline = performance.now() + settleWithinMs
  for (;;) {
    const found = await Promise.all(fleet.members.map((member) => unsettled(member, fleet, chain)))
    const reasons = found.flat()
    if (reasons.length === 0 || performance.now() > deadline) return reasons
    await pause(lookEveryMs)
  }
}

async function unsettled(member: Member, fleet: Fleet, chain: MovingChain): Promise<string[]> {
  const { name, program } = member
  const end = program.ownEnd()
  if (end !== null) return [`${name} ${end}`]
  const { head, lag, gaps, errors } = await healthOf(member)
  const due = chain.head().number
  const isHost = fleet.hosts.some((host) => host.name === name)
  const votes = isHost ? await lackingVotes(member, fleet.generators.length) : 0
  return [
    ...(head === due ? [] : [`${name} is at height ${head}, the node at ${due}`]),
    ...(lag === 0 ? [] : [`${name} has a lag of ${lag}`]),
    ...gaps.map(({ from, to }) => `${name} has a gap from ${from} to ${to}`),
    ...errors.map(({ code, message }) => `${name} says ${code}: ${message}`),
    ...(votes === 0 ? [] : [`${name} lacks votes of ${votes} blocks`]),
  ]
}

/** Blocks for which not all Generators have voted. */
async function lackingVotes({ program }: Member, generators: number): Promise<number> {
  const { lacking } = await program.query<{ lacking: number }>(
    'query ($all: Int!) { lacking: COUNT(Block: {filter: {_attestations: {_neq: $all}}}) }',
    { all: generators },
  )
  return lacking
}

export interface Comparison {
  readonly blocks: number
  readonly documents: number
  readonly differences: readonly string[]
}

/** Compares all that is kept with the node's blocks: document by document, seal by seal, vote by vote. */
export async function compareStores(
  fleet: Fleet,
  chain: MovingChain,
  retainBlocks: number,
): Promise<Comparison> {
  const to = chain.head().number
  const from = Math.max(0, to - retainBlocks + 1)
  const truth = await readTrueBlocks(chain.anvil, network, { from, to })
  const all = fleet.generators.map(({ identity }) => identity)
  const differences: string[] = []
  for (const member of fleet.members) {
    const own = fleet.generators.find(({ name }) => name === member.name)
    const signers = own === undefined ? all : [own.identity]
    const found = await storeDifferences(member.program, truth, signers)
    differences.push(...found.slice(0, maxDifferences).map((what) => `${member.name}: ${what}`))
  }
  const documents = truth.reduce((sum, block) => sum + block.documents.size, 0)
  return {
    blocks: truth.length,
    documents,
    differences: [...differences, ...(await sealDifferences(fleet, from, to))],
  }
}

/** The seals of a Host are those that the Generators serve, to the last bit. */
async function sealDifferences(fleet: Fleet, from: number, to: number): Promise<string[]> {
  const lines = async (member: Member): Promise<string[]> => {
    const held = await readHeldBlocks(member.program, from, to)
    return [...held].flatMap(([height, { seals }]) =>
      seals.map((seal) => `${height} ${JSON.stringify(seal)}`),
    )
  }
  const made = await Promise.all(fleet.generators.map(lines))
  const due = made.flat().toSorted()
  const found: string[] = []
  for (const host of fleet.hosts) {
    const own = new Set(await lines(host))
    const lacking = due.filter((line) => !own.has(line))
    if (lacking.length > 0 || own.size !== due.length)
      found.push(
        `${host.name} has ${own.size} seals, ${lacking.length} of the Generators' are not among them`,
      )
  }
  return found
}
