/**
 * What an application follows in the documentation: a chain with transfers of a token, two Generators on it, and a Host
 * with the View of the transfers. Every part is real; blocks come when a test asks for them.
 */
import type { TestContext } from 'node:test'
import { type Abi, type Address, encodeFunctionData } from 'viem'
import { tokenCreation } from '../../../src/devnet/load.ts'
import contracts from '../../../src/devnet/token.json' with { type: 'json' }
import { postTokenView } from '../../../src/devnet/token-view.ts'
import { paths } from '../../../src/service/contract.ts'
import { startAnvil } from '../chain/anvil.ts'
import { freePorts } from '../free-port.ts'
import { openGeneratorInProcess } from '../generator-in-process.ts'
import { openHostInProcess } from '../host-in-process.ts'
import { until } from '../p2p-room.ts'
import { testDirectory } from '../test-store.ts'

export interface TransferMesh {
  /** Identities of the Generators. */
  readonly signers: readonly string[]
  /** Identity of the Host. */
  readonly host: string
  /** Where applications dial the Host. */
  readonly peer: string
  /** Long ID of the View. */
  readonly view: string
  readonly apiUrl: string
  /** Until it is stopped. */
  readonly healthUrl: string
  /** Mines as many blocks with a transfer each; resolves once the Host has their rows, and both seals. */
  transfer(count: number): Promise<void>
  /** Resolves once the Host has ended; it keeps what it has. */
  stopHost(): Promise<void>
  /** Starts it again at the same addresses. */
  startHost(): Promise<void>
}

/** The first contract of the first account. */
const token = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
const adminToken = 'a token of tests only, and long enough'

/** Block 1 creates the token, whose supply is the first transfer. */
export async function openTransferMesh(t: TestContext): Promise<TransferMesh> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  t.after(() => anvil.close())
  const accounts = await anvil.rpc<Address[]>('eth_accounts')
  const generators = [
    await openGeneratorInProcess(t, testDirectory(t), { NODE_RPC_URL: anvil.url }),
    await openGeneratorInProcess(t, testDirectory(t), {
      NODE_RPC_URL: anvil.url,
      // Its peer ID follows from it.
      DB_KEYRING_SECRET: 'the secret of another one',
    }),
  ]
  const bootstrapPeers = generators.map(({ address }) => address).join(',')
  const host = await openRestartingHost(t, bootstrapPeers)
  await postTokenView({ hostUrl: host.apiUrl, adminToken, token }, AbortSignal.timeout(30_000))

  const isReader = ({ id, subscribed }: { id: string; subscribed: boolean }): boolean =>
    subscribed && host.peer.endsWith(id)
  let height = 0
  const mine = async (transaction: object): Promise<void> => {
    await anvil.rpc('eth_sendTransaction', transaction)
    await anvil.rpc('anvil_mine', '0x1')
    height += 1
  }
  await mine(tokenCreation(accounts))
  const reports = generators.map((generator) => generator.reports(({ head }) => head === height))
  return {
    ...host,
    signers: (await Promise.all(reports)).map(({ identity }) => `${identity}`),
    view: await host.viewID(),
    // A seal that a Generator makes before it knows its reader is made up for within a minute only.
    startHost: async () => {
      await host.startHost()
      await until(() => generators.every(({ p2p }) => p2p.peers().some(isReader)))
    },
    transfer: async (count) => {
      for (let index = 0; index < count; index++) await mine(transferOf(accounts, height))
      await until(() => host.isAttested(height))
    },
  }
}

/** The owner pays the others in turn. */
function transferOf([from, ...others]: readonly Address[], height: number): object {
  const args = [others[height % others.length], BigInt(height) * 1_000n]
  const abi = contracts.Token.abi as Abi
  const data = encodeFunctionData({ abi, functionName: 'transfer', args })
  return { from, to: token, data, gas: '0x30d40' }
}

/** A Host that comes back at the same addresses. */
async function openRestartingHost(t: TestContext, bootstrapPeers: string) {
  const home = testDirectory(t)
  const [api, p2p] = await freePorts(2)
  const apiUrl = `http://127.0.0.1:${api}`
  const listening = `/ip4/127.0.0.1/tcp/${p2p}`
  const open = async () => {
    const host = await openHostInProcess(t, home, {
      BOOTSTRAP_PEERS: bootstrapPeers,
      HOST_ADMIN_TOKEN: adminToken,
      DB_API_ADDR: `127.0.0.1:${api}`,
      DB_P2P_LISTEN_ADDR: listening,
    })
    const { p2p: opened } = await host.opened
    return { host, peer: `${listening}/p2p/${opened.self().id}` }
  }
  let { host, peer } = await open()
  const { healthUrl } = host
  const { identity } = (await host.health()).report
  const ask = async <Data>(path: string, body?: object): Promise<Data> => {
    const init = body && { method: 'POST', body: JSON.stringify(body) }
    return (await (await fetch(`${apiUrl}${path}`, init)).json()) as Data
  }
  return {
    ...{ apiUrl, healthUrl, peer },
    host: `${identity}`,
    viewID: async () => {
      const { views } = await ask<{ views: { id: string }[] }>(paths.views)
      return `${views[0]?.id}`
    },
    /** Whether it has the rows of so many blocks, and seals of two Generators for each. */
    isAttested: async (blocks: number) => {
      const query = '{ TokenTransfer { _attestations } }'
      type Rows = { data: { TokenTransfer: { _attestations: number }[] } | null }
      const { data } = await ask<Rows>(paths.graphql, { query })
      const attested = data?.TokenTransfer.filter((row) => row._attestations === 2)
      return attested?.length === blocks
    },
    stopHost: () => host.close(),
    startHost: async () => {
      ;({ host, peer } = await open())
    },
  }
}
