/**
 * Registers a node on the registry chain by its JSON-RPC: Hosts at 0x0211, Generators at 0x0212. It brings viem along, which
 * is slow to load: import it where it is needed and not before.
 */
import { encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { gasLimit, notNegative, openChainRpc, requestReceipt } from './chain-rpc.ts'
import { type ReadyTransaction, sendOnce } from './send-once.ts'

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
  /** The precompile. */
  readonly to: string
  readonly gas: bigint
  /** Smallest units of the coin for a unit of gas. */
  readonly gasPrice: bigint
  readonly nonce: number
  /** What it costs at most, in the smallest units of the coin. */
  readonly fee: bigint
  readonly balance: bigint
}

/** The chain behind one URL. */
export interface NodeRegistrar {
  chainId(): Promise<number>
  /** Throws REGISTRY_REFUSED where the chain would not take it. */
  prepare(sender: string, registration: NodeRegistration): Promise<PreparedRegistration>
  /** Signs it at what it was prepared with. */
  sign(
    privateKey: string,
    registration: NodeRegistration,
    chainId: number,
    prepared: PreparedRegistration,
  ): Promise<ReadyTransaction>
  /** Harmless where it was sent before. */
  send(signed: ReadyTransaction): Promise<void>
  /** Whether the chain took it; null while it is in no block. */
  succeeded(hash: string): Promise<boolean | null>
}

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
export function createNodeClient(url: string, signal: AbortSignal): NodeRegistrar {
  const { ask } = openChainRpc(url, signal)
  return {
    chainId: () => ask((client) => client.getChainId()),
    prepare: (sender, registration) =>
      ask(async (client) => {
        const address = sender as Hex
        const to = precompiles[registration.role]
        const data = callData(registration)
        const [estimated, gasPrice, balance, nonce] = await Promise.all([
          client.estimateGas({ account: address, to, data }),
          client.getGasPrice(),
          client.getBalance({ address }),
          client.getTransactionCount({ address, blockTag: 'pending' }),
        ])
        const gas = gasLimit(notNegative(estimated))
        const fee = gas * notNegative(gasPrice)
        return { to, gas, gasPrice, nonce: notNegative(nonce), fee, balance: notNegative(balance) }
      }),
    async sign(privateKey, registration, chainId, { to, gas, gasPrice, nonce }) {
      const account = privateKeyToAccount(privateKey as Hex)
      const data = callData(registration)
      const request = { to: to as Hex, data, chainId, gas, gasPrice, nonce }
      const raw = await account.signTransaction({ type: 'legacy', ...request })
      return { hash: keccak256(raw), raw }
    },
    send: (signed) => ask((client) => sendOnce(client, signed)),
    succeeded: (hash) =>
      ask(async (client) => {
        const receipt = await requestReceipt(client, hash)
        return receipt === null ? null : receipt.status === '0x1'
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
  const shared = [publicKey as Hex, signature as Hex, message as Hex, connection] as const
  return role === 'host'
    ? encodeFunctionData({ abi: hostAbi, functionName: 'register', args: [...shared, endpoint] })
    : encodeFunctionData({ abi: generatorAbi, functionName: 'register', args: shared })
}
