/** The EVM of the stand-in of the registry chain: anvil, which mines when there is something to mine, with our contract at 0x0210. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { registryAddress } from '../../registry/precompile/abi.ts'
import { startAnvil } from '../anvil.ts'
import { prepareState } from '../anvil-state.ts'
import type { Child, Children } from '../children.ts'
import contract from './contract.json' with { type: 'json' }

/** What a node answers to one call. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }

/** The node; its own interface, which nobody else is given. */
export interface EvmNode {
  /** One call as it is, with its failure as a value. */
  ask(method: string, params: readonly unknown[]): Promise<RpcAnswer>
  /** One call that has to succeed. */
  call<T>(method: string, ...params: readonly unknown[]): Promise<T>
  close(): Promise<void>
}

/** Acts for the other chain in the contract; nobody has its key. */
export const moduleAccount = '0x000000000000000000000000000000000000acc7'

/** Enough for anything that fits into a transaction. */
export const amplyGas = '0x77359400'

const timeoutMs = 30_000
const stopMs = 2_000

/** As the real chain's: room for everything in a block, no base fee, the gas rules of Cancun. */
const chainArgs: readonly string[] = [
  ...['--gas-limit', '10000000000', '--block-base-fee-per-gas', '0', '--hardfork', 'cancun'],
  ...['--state-interval', '1', '--no-request-size-limit', '--disable-min-priority-fee'],
]

interface NodeOptions {
  readonly directory: string
  /** The chain ID that signatures need. */
  readonly chainId: number
}

/** Starts the node on its saved chain or on a new one. */
export async function openEvmNode(
  { directory, chainId }: NodeOptions,
  parts: { readonly children: Children; readonly signal: AbortSignal },
): Promise<EvmNode> {
  prepareState(directory)
  const args = [...chainArgs, '--chain-id', String(chainId)]
  const anvil = await startAnvil({ port: await freePort(), directory, args }, parts)
  const node = createNode(anvil.node.rpcUrl, anvil.child)
  await node.call('anvil_setCode', registryAddress, contract.code)
  return node
}

function createNode(url: string, child: Child): EvmNode {
  const ask = async (method: string, params: readonly unknown[]): Promise<RpcAnswer> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    return (await response.json()) as RpcAnswer
  }
  return {
    ask,
    async call<T>(method: string, ...params: readonly unknown[]) {
      const answer = await ask(method, params)
      if ('error' in answer) throw new Error(`${method}: ${answer.error.message}`)
      return answer.result as T
    },
    close: () => child.stop(stopMs),
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
