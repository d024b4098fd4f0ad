/**
 * Registers Views on the registry chain by its JSON-RPC: asks, estimates, signs, sends and waits. It brings viem along, which
 * is slow to load: import it where it is needed and not before.
 */
import { decodeEventLog, type Hex, keccak256, type PublicClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { ServiceError } from '../../errors.ts'
import { registryAbi, registryAddress } from './abi.ts'
import { gasLimit, notNegative, openChainRpc, requestReceipt } from './chain-rpc.ts'
import { type ReadyTransaction, sendOnce } from './send-once.ts'
import { registerCall } from './signed-transaction.ts'

/** A View as the chain has it; `none` for one that it does not know, or no longer. */
interface OnChainView {
  readonly status: 'none' | 'pending' | 'registered'
  readonly name: string
  /** Of its registration; 0 for `none`. */
  readonly height: number
}

/** What a registration will take. */
export interface Estimate {
  /** The limit: what the chain estimates and a tenth more. */
  readonly gas: bigint
  /** Smallest units of the coin for a unit of gas: at most, and of that for the one who makes the block. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** What it costs at most. */
  readonly fee: bigint
  readonly balance: bigint
  readonly nonce: number
}

/** What became of it. */
export interface RegistrationReceipt {
  readonly succeeded: boolean
  readonly height: number
  readonly gasUsed: bigint
  /** From the log of the chain; null where there is none. */
  readonly address: string | null
}

/** The chain behind one URL. Every method throws `REGISTRY_UNREACHABLE`, `REGISTRY_REFUSED` or `REGISTRY_ANSWER_MALFORMED`. */
export interface RegistryClient {
  chainId(): Promise<number>
  getView(address: string): Promise<OnChainView>
  /** How many transactions of it are in blocks: nonces below that are taken. */
  nonce(sender: string): Promise<number>
  estimate(sender: string, wire: Uint8Array): Promise<Estimate>
  /** The same bytes for the same arguments. */
  sign(
    privateKey: string,
    wire: Uint8Array,
    chainId: number,
    estimate: Omit<Estimate, 'fee' | 'balance'>,
  ): Promise<ReadyTransaction>
  /** Harmless where it was sent before. */
  send(signed: ReadyTransaction): Promise<void>
  /** Null while it is in no block. */
  receipt(hash: string): Promise<RegistrationReceipt | null>
  /** Why the chain refuses a registration as things are; null where it would take it. */
  refusal(sender: string, wire: Uint8Array): Promise<string | null>
}

const statuses = ['none', 'pending', 'registered'] as const

/** Reaches nothing yet. `url` is http or https. */
export function createRegistryClient(url: string, signal: AbortSignal): RegistryClient {
  const { ask } = openChainRpc(url, signal)
  return {
    chainId: () => ask((client) => client.getChainId()),
    getView: (address) => ask((client) => readView(client, address)),
    nonce: (sender) => ask((client) => client.getTransactionCount({ address: sender as Hex })),
    estimate: (sender, wire) => ask((client) => estimate(client, sender, wire)),
    send: (signed) => ask((client) => sendOnce(client, signed)),
    receipt: (hash) => ask((client) => readReceipt(client, hash)),
    async sign(privateKey, wire, chainId, { gas, nonce, maxFeePerGas, maxPriorityFeePerGas }) {
      const account = privateKeyToAccount(privateKey as Hex)
      const fees = { gas, nonce, maxFeePerGas, maxPriorityFeePerGas }
      const data = registerCall(wire)
      const request = { type: 'eip1559', to: registryAddress, data, chainId, ...fees } as const
      const raw = await account.signTransaction(request)
      return { hash: keccak256(raw), raw }
    },
    async refusal(sender, wire) {
      try {
        const data = registerCall(wire)
        await ask((client) => client.call({ account: sender as Hex, to: registryAddress, data }))
        return null
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'REGISTRY_REFUSED') throw error
        return String(error.facts['reason'])
      }
    },
  }
}

async function readView(client: PublicClient, address: string): Promise<OnChainView> {
  const { status, name, height } = await client.readContract({
    address: registryAddress,
    abi: registryAbi,
    functionName: 'getView',
    args: [address as Hex],
  })
  return { status: statuses[status] ?? 'none', name, height: Number(height) }
}

async function estimate(client: PublicClient, sender: string, wire: Uint8Array): Promise<Estimate> {
  const address = sender as Hex
  const [estimated, nonce, balance, fees] = await Promise.all([
    client.estimateGas({ account: address, to: registryAddress, data: registerCall(wire) }),
    client.getTransactionCount({ address, blockTag: 'pending' }),
    client.getBalance({ address }),
    readFees(client),
  ])
  const gas = gasLimit(notNegative(estimated))
  const fee = gas * fees.maxFeePerGas
  return { gas, nonce: notNegative(nonce), balance: notNegative(balance), ...fees, fee }
}

/** A chain without a base fee has one price for all. */
async function readFees(
  client: PublicClient,
): Promise<Pick<Estimate, 'maxFeePerGas' | 'maxPriorityFeePerGas'>> {
  const [{ baseFeePerGas }, price] = await Promise.all([client.getBlock(), client.getGasPrice()])
  if (baseFeePerGas === null)
    return { maxFeePerGas: notNegative(price), maxPriorityFeePerGas: price }
  const maxPriorityFeePerGas = notNegative(await client.estimateMaxPriorityFeePerGas())
  const maxFeePerGas = notNegative(baseFeePerGas) * 2n + maxPriorityFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas }
}

async function readReceipt(
  client: PublicClient,
  hash: string,
): Promise<RegistrationReceipt | null> {
  const receipt = await requestReceipt(client, hash)
  if (receipt === null) return null
  const { status, blockNumber, gasUsed, logs } = receipt
  // The chain writes another height into the logs of a receipt.
  return {
    succeeded: status === '0x1',
    height: Number(BigInt(blockNumber)),
    gasUsed: BigInt(gasUsed),
    address: createdIn(logs),
  }
}

interface ReceiptLog {
  readonly address: string
  readonly topics: readonly Hex[]
  readonly data: Hex
}

function createdIn(logs: readonly ReceiptLog[]): string | null {
  for (const { address, topics, data } of logs) {
    if (address.toLowerCase() !== registryAddress) continue
    const [topic, ...rest] = topics
    if (topic === undefined) continue
    const { args } = decodeEventLog({ abi: registryAbi, topics: [topic, ...rest], data })
    return args.viewAddress
  }
  return null
}
