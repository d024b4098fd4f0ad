/** What an application follows: a real node, a Generator beside it, and Hosts with the View of transfers, all as programs. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { getContractAddress } from 'viem'
import type { AppOptions } from '../../../../src/app/app.ts'
import type { ProgramName } from '../../../../src/service/contract.ts'
import { type MovingChain, startMovingChain } from '../../../support/chain/moving-chain.ts'
import { type Program, prepareProgram } from '../../../support/programs.ts'
import { createSeededRandom } from '../../../support/seeded-random.ts'
import { postTransfers, viewsUrlOf } from './transfers.ts'

const network = 'Ethereum__Mainnet'
const adminToken = 'an admin token of tests'

interface HostPlan {
  readonly name: string
  /** A module of this folder that alters it. */
  readonly preload?: string
  readonly settings?: Readonly<Record<string, string>>
}

export interface FollowedHost {
  readonly name: string
  readonly program: Program
  readonly identity: string
  /** By which applications reach it. */
  readonly address: string
}

export interface Fleet {
  /** Stores and logs. */
  readonly folder: string
  readonly chain: MovingChain
  readonly token: string
  readonly hosts: readonly FollowedHost[]
  /** By which Hosts reach the Generator. */
  readonly generator: string
  /** The long ID of the View. */
  readonly view: string
  /** Posts a View of transfers with another SDL to one of the Hosts; returns its long ID. */
  post(host: FollowedHost, sdl: string): Promise<string>
  /** The test went well: the folder is not needed. */
  pass(): void
}

/** Ended after the test; the folder stays where the test does not say that it went well. */
export async function startFleet(
  t: TestContext,
  { seed, hosts: plans }: { readonly seed: string; readonly hosts: readonly HostPlan[] },
): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'viewmesh-app-'))
  const ends: (() => Promise<unknown>)[] = []
  let isWell = false
  t.after(async () => {
    for (const end of ends.toReversed()) await end()
    if (isWell) await rm(folder, { recursive: true, force: true })
    else t.diagnostic(`stores and logs are in ${folder}`)
  })
  const chain = await startMovingChain({ groups: 1, random: createSeededRandom(`${seed} chain`) })
  ends.push(chain.close)
  const prepare = async (
    kind: ProgramName,
    name: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Program> => {
    const path = join(folder, name)
    const common = { DB_KEYRING_SECRET: `a secret of ${name}`, LOG_LEVEL: 'info', ...settings }
    const program = await prepareProgram(kind, common, { folder: path, log: `${path}.log` })
    ends.push(program.stop)
    return program
  }
  const [owner] = await chain.anvil.rpc<`0x${string}`[]>('eth_accounts')
  if (owner === undefined) throw new Error('the node has no accounts')
  const token = getContractAddress({ from: owner, nonce: 0n }).toLowerCase()
  const generator = await prepare('generator', 'generator')
  await generator.start({
    NODE_RPC_URL: chain.anvil.url,
    NODE_WS_URL: chain.anvil.wsUrl,
    GENERATOR_START_HEIGHT: '0',
  })
  const peer = generator.peerAddress((await generator.health()).p2p.self?.id ?? '')
  const hosts: FollowedHost[] = []
  for (const { name, preload, settings } of plans) {
    const program = await prepare('host', name, {
      BOOTSTRAP_PEERS: peer,
      HOST_ADMIN_TOKEN: adminToken,
      ...(preload === undefined ? {} : { NODE_OPTIONS: preloading(preload) }),
      ...settings,
    })
    await program.start()
    const { identity, p2p } = await program.health()
    const address = program.peerAddress(p2p.self?.id ?? '')
    hosts.push({ name, program, identity: identity ?? '', address })
  }
  const post = ({ program }: FollowedHost, sdl?: string): Promise<string> =>
    postTransfers(token, { viewsUrl: viewsUrlOf(program.graphqlUrl), adminToken }, sdl)
  const views = await Promise.all(hosts.map((host) => post(host)))
  const pass = (): void => {
    isWell = true
  }
  return { folder, chain, token, hosts, generator: peer, view: views[0] ?? '', post, pass }
}

function preloading(module: string): string {
  return `--import=${new URL(module, import.meta.url).href}`
}

/** Options by which an application follows these Hosts, and believes what two of them sign. */
export function followOptions(
  { folder, view, hosts }: Fleet,
  name = 'app',
): AppOptions & { readonly path: string } {
  return {
    path: join(folder, name),
    network,
    views: [view],
    peers: hosts.map(({ address }) => address),
    hosts: hosts.map(({ identity }) => identity),
    minimumHosts: 2,
  }
}
