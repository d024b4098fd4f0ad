/** The programs of a soak: two Generators, each with a way of its own to the node, and three Hosts that know both. */
import { join } from 'node:path'
import type { HealthReport } from '../../src/service/contract.ts'
import { onRoomyDisk } from '../support/machine-disk.ts'
import { type Program, pause, prepareProgram } from '../support/programs.ts'
import { type NodeLink, openNodeLink } from './node-link.ts'
import {
  type GeneratorName,
  generatorNames,
  type HostName,
  hostNames,
  type MemberName,
} from './plan.ts'

export interface Member {
  readonly name: MemberName
  readonly program: Program
  /** Which of its lives this is, from 1; 0 while it is down. */
  life(): number
}

interface Generator extends Member {
  readonly name: GeneratorName
  readonly link: NodeLink
  /** What its seals are signed with. */
  readonly identity: string
}

export interface Host extends Member {
  readonly name: HostName
}

export interface Fleet {
  readonly generators: readonly Generator[]
  readonly hosts: readonly Host[]
  readonly members: readonly Member[]
  /** Kills a program with SIGKILL and starts it again on its folder; a kill waits for the one before. */
  killAndReturn(name: MemberName, downMs: number): Promise<void>
  /** Ends all of them; their folders stay. */
  stop(): Promise<void>
}

interface FleetOptions {
  /** What the programs keep and say is put there. */
  readonly folder: string
  readonly nodePort: number
  /** Newest blocks that each keeps. */
  readonly retainBlocks: number
}

interface Living {
  readonly program: Program
  life(): number
  start(): Promise<void>
  killAndReturn(downMs: number): Promise<void>
}

/** Starts all of them. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const lives = new Map<MemberName, Living>()
  const prepare = async (
    name: MemberName,
    settings: Readonly<Record<string, string>>,
  ): Promise<Living> => {
    const living = await prepareLiving(name, settings, options)
    lives.set(name, living)
    await living.start()
    return living
  }
  const generators = await Promise.all(
    generatorNames.map(async (name): Promise<Generator> => {
      const link = await openNodeLink(options.nodePort)
      const living = await prepare(name, {
        NODE_RPC_URL: link.url,
        NODE_WS_URL: link.wsUrl,
        GENERATOR_START_HEIGHT: '0',
      })
      const { identity } = await living.program.health()
      return { ...living, name, link, identity: identity ?? '' }
    }),
  )
  const addresses = await Promise.all(
    generators.map(async ({ program }) =>
      program.peerAddress((await program.health()).p2p.self?.id ?? ''),
    ),
  )
  const hosts = await Promise.all(
    hostNames.map(async (name): Promise<Host> => {
      const living = await prepare(name, { BOOTSTRAP_PEERS: addresses.join(',') })
      return { ...living, name }
    }),
  )
  return {
    generators,
    hosts,
    members: [...generators, ...hosts],
    killAndReturn: async (name, downMs) => await lives.get(name)?.killAndReturn(downMs),
    async stop() {
      await Promise.all([...hosts, ...generators].map(({ program }) => program.stop()))
      await Promise.all(generators.map(({ link }) => link.close()))
    },
  }
}

async function prepareLiving(
  name: MemberName,
  settings: Readonly<Record<string, string>>,
  options: FleetOptions,
): Promise<Living> {
  const folder = join(options.folder, name.replace(' ', '-'))
  const program = await prepareProgram(
    generatorNames.some((each) => each === name) ? 'generator' : 'host',
    {
      // The peer ID follows from it.
      DB_KEYRING_SECRET: `a secret of ${name}`,
      PRUNER_MAX_BLOCKS: `${options.retainBlocks}`,
      LOG_LEVEL: 'info',
      ...settings,
    },
    { folder, log: `${folder}.log` },
  )
  let lives = 0
  let isUp = false
  let last: Promise<void> = Promise.resolve()
  const start = async (): Promise<void> => {
    await program.start()
    lives += 1
    isUp = true
  }
  return {
    program,
    life: () => (isUp ? lives : 0),
    start,
    killAndReturn: (downMs) => {
      last = last.then(async () => {
        isUp = false
        await program.kill()
        await pause(downMs)
        await start()
      })
      return last
    },
  }
}

/** The report of a program, without what the disk of this machine has to do with. */
export async function healthOf({ program }: Member): Promise<HealthReport> {
  return onRoomyDisk(await program.health())
}
