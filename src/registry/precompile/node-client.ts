/**
 * Registers a node on the registry chain by its JSON-RPC: Hosts at 0x0211, Generators at 0x0212. It brings viem along, which
 * is slow to load: import it where it is needed and not before.
 */
import { createPublicClient, encodeFunctionData, type Hex, http, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { registryRpcFailure } from './rpc-failure.ts'

/** What is registered; bytes as 0x and hex. */
export interface NodeRegistration {
  readonly role: 'host' | 'generator'
  readonly publicKey: string
  readonly signature: string
  readonly message: string
  readonly connection: string
  /** Of a Host alone. */
  readonly endpoint: string
}

/** A registration that is ready to be sent. */
export interface PreparedRegistration {
  readonly chainId: number
  /** The precompile. */
  readonly to: string
  readonly gas: bigint
  /** What it costs at most, in the smallest units of the coin. */
  readonly fee: bigint
  readonly balance: bigint
}

interface NodeClient {
  chainId(): Promise<number>
  /** Throws REGISTRY_REFUSED where the chain would not take it. */
  prepare(sender: string, registration: NodeRegistration): Promise<PreparedRegistration>
  /** Sends it and waits until it is in a block; returns its hash, and whether the chain took it. */
  send(
    privateKey: string,
    registration: NodeRegistration,
    prepared: PreparedRegistration,
  ): Promise<{ readonly hash: string; readonly succeeded: boolean }>
}

const timeoutMs = 20_000
const receiptMs = 120_000
const precompiles = {
  host: '0x0000000000000000000000000000000000000211',
  generator: '0x0000000000000000000000000000000000000212',
} as const
const hostAbi = parseAbi([
  'function register(bytes nodePub, bytes nodeSig, bytes message, string connectionString, string endpointAddress)',
])
const generatorAbi = parseAbi([
  'function register(bytes nodePub, bytes nodeSig, bytes message, string connectionString)',
])

/** Reaches nothing yet. Each call throws REGISTRY_UNREACHABLE, REGISTRY_REFUSED or REGISTRY_ANSWER_MALFORMED. */
export function createNodeClient(url: string): NodeClient {
  const client = createPublicClient({ transport: http(url, { timeout: timeoutMs, retryCount: 2 }) })
  const ask = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      return await action()
    } catch (error) {
      throw registryRpcFailure(error, url)
    }
  }
  return {
    chainId: () => ask(() => client.getChainId()),
    prepare: (sender, registration) =>
      ask(async () => {
        const address = sender as Hex
        const to = precompiles[registration.role]
        const data = callData(registration)
        const [chainId, estimated, price, balance] = await Promise.all([
          client.getChainId(),
          client.estimateGas({ account: address, to, data }),
          client.getGasPrice(),
          client.getBalance({ address }),
        ])
        const gas = (estimated * 11n + 9n) / 10n
        return { chainId, to, gas, fee: gas * price, balance }
      }),
    send: (privateKey, registration, { chainId, to, gas }) =>
      ask(async () => {
        const account = privateKeyToAccount(privateKey as Hex)
        const [gasPrice, nonce] = await Promise.all([
          client.getGasPrice(),
          client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
        ])
        const data = callData(registration)
        const request = {
          type: 'legacy',
          to: to as Hex,
          data,
          chainId,
          gas,
          gasPrice,
          nonce,
        } as const
        const serializedTransaction = await account.signTransaction(request)
        const hash = await client.sendRawTransaction({ serializedTransaction })
        const receipt = await client.waitForTransactionReceipt({ hash, timeout: receiptMs })
        return { hash, succeeded: receipt.status === 'success' }
      }),
  }
}

function callData({
  role,
  publicKey,
  signature,
  message,
  connection,
  endpoint,
}: NodeRegistration): Hex {
  const [key, signed, text] = [publicKey, signature, message].map((bytes) => bytes as Hex)
  const shared = [key ?? '0x', signed ?? '0x', text ?? '0x', connection] as const
  return role === 'host'
    ? encodeFunctionData({ abi: hostAbi, functionName: 'register', args: [...shared, endpoint] })
    : encodeFunctionData({ abi: generatorAbi, functionName: 'register', args: shared })
}
