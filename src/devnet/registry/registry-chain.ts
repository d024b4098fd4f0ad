/**
 * The chain of the stand-in: transactions to the registry run in the node one after the other, under the rules and at
 * the price of the real chain, and what the contract then says becomes the ledger that the other interfaces show.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Abi,
  decodeEventLog,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  toHex,
} from 'viem'
import { createInTurn } from '../../primitives/in-turn.ts'
import { registryAddress } from '../../registry/precompile/abi.ts'
import { readSigned, type SignedTransaction } from '../../registry/precompile/signed-transaction.ts'
import contract from './contract.json' with { type: 'json' }
import { amplyGas, type EvmNode, moduleAccount, type RpcAnswer } from './evm-node.ts'
import type { Journal } from './journal.ts'
import type { ChainView, Ledger, LedgerTransaction, ViewStep } from './ledger.ts'
import { chargedGas, intrinsicGas, type SentTransaction } from './sent-transaction.ts'

/** Views whose waiting ends, by address. */
export interface Settlement {
  readonly registered?: readonly string[]
  readonly failed?: readonly string[]
  /** Closes the channel: the chain refuses new Views from then on. */
  readonly timedOut?: readonly string[]
}

/** What changes the chain. */
export interface RegistryChain {
  /** Runs a raw transaction to the registry; null for one to somewhere else. */
  execute(raw: string): Promise<RpcAnswer | null>
  /** Registers as an account whose key nobody needs. Returns the address. */
  register(sender: string, wire: Uint8Array): Promise<string>
  settle(settlement: Settlement): Promise<void>
  openChannel(): Promise<void>
  plant(view: ChainView): Promise<void>
  /** Takes over what others registered through contracts. */
  collect(): Promise<void>
  /** By the hash of either of the two transactions. */
  sent(hash: string): SentTransaction | undefined
  height(): Promise<number>
}

interface ChainParts {
  readonly node: EvmNode
  readonly ledger: Ledger
  readonly journal: Journal
  readonly chainId: number
}

const abi = contract.abi as Abi
const [acceptedTopic] = encodeEventTopics({ abi, eventName: 'Accepted' })

/** First topic of the log that clients are not shown. */
export const hiddenTopic: string = String(acceptedTopic)

const receiptStepMs = 10

interface Receipt {
  readonly transactionHash: string
  readonly blockNumber: Hex
  readonly status: Hex
}

interface AcceptedLog {
  readonly transactionHash: string
  readonly blockNumber: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** Takes up what the journal has, and puts into the contract what the node lost of it. */
export async function openRegistryChain(parts: ChainParts): Promise<RegistryChain> {
  const { node, ledger, journal } = parts
  const sent = new Map<string, SentTransaction>()
  const remember = (transaction: SentTransaction): void => {
    sent.set(transaction.hash, transaction)
    sent.set(transaction.inner, transaction)
  }
  for (const entry of journal.entries) {
    if (entry.kind === 'sent') remember(entry.sent)
    else ledger.add(entry.transaction)
  }
  await restore(node, ledger)
  let collected = newestHeight(ledger)
  const record = (transaction: LedgerTransaction): void => {
    journal.append({ kind: 'views', transaction })
    ledger.add(transaction)
  }
  const collect = async (): Promise<void> => {
    const height = await heightOf(node)
    if (height <= collected) return
    for (const transaction of await acceptedBetween(node, collected + 1, height))
      record(transaction)
    collected = height
  }
  await collect()
  const inTurn = createInTurn()
  const run = async (from: string, data: Hex): Promise<Receipt> => {
    const receipt = await runAs(node, from, data)
    await collect()
    return receipt
  }
  const asModule = async (functionName: string, args: readonly unknown[]): Promise<number> => {
    const receipt = await run(moduleAccount, encodeFunctionData({ abi, functionName, args }))
    return Number(receipt.blockNumber)
  }
  return {
    sent: (hash) => sent.get(hash),
    height: () => heightOf(node),
    collect: () => inTurn(collect),
    openChannel: () => inTurn(async () => void (await asModule('openChannel', []))),
    async execute(raw) {
      const signed = await readSigned(raw)
      if (signed?.to !== registryAddress) return null
      return await inTurn(async () => {
        const refusal = await refusalOf(signed, parts)
        if (refusal !== null) return { error: { code: -32000, message: refusal } }
        const receipt = await run(signed.from, signed.data)
        const transaction = await charge(node, signed, receipt)
        journal.append({ kind: 'sent', sent: transaction })
        remember(transaction)
        return { result: signed.hash }
      })
    },
    register: (sender, wire) =>
      inTurn(async () => {
        const data = encodeFunctionData({ abi, functionName: 'register', args: [toHex(wire)] })
        const { transactionHash, status } = await run(sender, data)
        const found = ledger.transactions().findLast(({ id }) => id === transactionHash)
        if (status !== '0x1') throw new Error('the registry refuses the View')
        return found?.steps[0]?.view.address ?? ''
      }),
    settle: (settlement) =>
      inTurn(async () => {
        const steps = stepsOf(settlement, ledger)
        if (steps.length === 0) return
        const addressesOf = (wanted: (kind: ViewStep['kind']) => boolean): string[] =>
          steps.filter(({ kind }) => wanted(kind)).map(({ view }) => view.address)
        const registered = addressesOf((kind) => kind === 'registered')
        const dropped = addressesOf((kind) => kind !== 'registered')
        const closes = steps.some(({ kind }) => kind === 'timed_out')
        const height = await asModule('settle', [registered, dropped, closes])
        record({ height, id: `settle ${height}`, steps })
      }),
    plant: (view) =>
      inTurn(async () => {
        const height = await asModule('put', [toContract(view, 2)])
        record({ height, id: `plant ${height}`, steps: [{ kind: 'registered', view }] })
      }),
  }
}

async function heightOf(node: EvmNode): Promise<number> {
  return Number(await node.call<Hex>('eth_blockNumber'))
}

function newestHeight(ledger: Ledger): number {
  return Math.max(0, ...ledger.transactions().map(({ height }) => height))
}

/** A node that was killed may lack its last second: its height and the contract are brought up to the ledger. */
async function restore(node: EvmNode, ledger: Ledger): Promise<void> {
  const missing = newestHeight(ledger) - (await heightOf(node))
  if (missing > 0) await node.call('anvil_mine', toHex(missing))
  const views = [
    ...ledger.pending().map((view) => [view, 1] as const),
    ...ledger.registered().map((view) => [view, 2] as const),
  ]
  for (const [view, status] of views) {
    const data = encodeFunctionData({ abi, functionName: 'getView', args: [view.address] })
    const found = await node.call<Hex>('eth_call', { to: registryAddress, data }, 'latest')
    if (BigInt(`0x${found.slice(2 + 5 * 64, 2 + 6 * 64)}`) === BigInt(status)) continue
    const put = encodeFunctionData({ abi, functionName: 'put', args: [toContract(view, status)] })
    await runAs(node, moduleAccount, put)
  }
}

function toContract(view: ChainView, status: number): unknown {
  const { address: viewAddress, name, creator, height } = view
  return { viewAddress, name, creator, height: BigInt(height), status }
}

/** Runs a call without a price; the caller charges what the real chain would. */
async function runAs(node: EvmNode, from: string, data: Hex): Promise<Receipt> {
  await node.call('anvil_impersonateAccount', from)
  const request = { from, to: registryAddress, data, gas: amplyGas, gasPrice: '0x0' }
  const hash = await node.call<string>('eth_sendTransaction', request)
  for (;;) {
    const receipt = await node.call<Receipt | null>('eth_getTransactionReceipt', hash)
    if (receipt !== null) return receipt
    await delay(receiptStepMs)
  }
}

/** Why the chain does not take a transaction; null where it does. */
async function refusalOf(signed: SignedTransaction, parts: ChainParts): Promise<string | null> {
  const { node, chainId } = parts
  if (signed.chainId === null)
    return 'only replay-protected (EIP-155) transactions allowed over RPC'
  if (signed.chainId !== chainId)
    return `invalid chain id for signer: have ${signed.chainId} want ${chainId}`
  const nonce = Number(await node.call<Hex>('eth_getTransactionCount', signed.from, 'latest'))
  if (signed.nonce !== nonce)
    return `invalid nonce; got ${signed.nonce}, expected ${nonce}: invalid sequence`
  const needed = intrinsicGas(signed.data)
  if (signed.gas < needed)
    return `intrinsic gas too low: gas wanted ${signed.gas}, gas needed ${needed}`
  const balance = BigInt(await node.call<Hex>('eth_getBalance', signed.from, 'latest'))
  const cost = signed.gas * signed.gasPrice + signed.value
  return balance < cost
    ? `sender balance < tx cost (${balance} < ${cost}): insufficient funds`
    : null
}

async function charge(
  node: EvmNode,
  signed: SignedTransaction,
  receipt: Receipt,
): Promise<SentTransaction> {
  const { hash, from, data, gas, gasPrice, fields } = signed
  const gasUsed = chargedGas(data, gas, receipt.status === '0x1')
  const balance = BigInt(await node.call<Hex>('eth_getBalance', from, 'latest'))
  await node.call('anvil_setBalance', from, toHex(balance - gasUsed * gasPrice))
  const inner = receipt.transactionHash
  return { hash, inner, gasUsed: toHex(gasUsed), gasPrice: toHex(gasPrice), fields }
}

async function acceptedBetween(
  node: EvmNode,
  from: number,
  to: number,
): Promise<LedgerTransaction[]> {
  const logs = await node.call<readonly AcceptedLog[]>('eth_getLogs', {
    address: registryAddress,
    topics: [hiddenTopic],
    fromBlock: toHex(from),
    toBlock: toHex(to),
  })
  const byTransaction = Map.groupBy(logs, ({ transactionHash }) => transactionHash)
  return [...byTransaction].map(([id, own]) => ({
    height: Number(own[0]?.blockNumber ?? 0),
    id,
    steps: own.map((log) => ({ kind: 'pending', view: acceptedView(log) }) as const),
  }))
}

interface AcceptedArgs {
  readonly viewAddress: string
  readonly creator: string
  readonly name: string
  readonly data: Hex
}

function acceptedView({ topics, data, blockNumber }: AcceptedLog): ChainView {
  const { args } = decodeEventLog({
    abi,
    eventName: 'Accepted',
    topics: [hiddenTopic as Hex, ...topics.slice(1)],
    data,
  })
  const { viewAddress, creator, name, data: wire } = args as unknown as AcceptedArgs
  const bytes = Buffer.from(wire.slice(2), 'hex')
  return {
    address: viewAddress,
    creator,
    name,
    height: Number(blockNumber),
    wire: new Uint8Array(bytes),
  }
}

function stepsOf(settlement: Settlement, ledger: Ledger): ViewStep[] {
  const found = (addresses: readonly string[] = []): ChainView[] =>
    ledger.pending().filter(({ address }) => addresses.includes(address))
  return [
    ...found(settlement.registered).map((view) => ({ kind: 'registered', view }) as const),
    ...found(settlement.failed).map(
      (view) => ({ kind: 'failed', view, error: 'ABCI code: 1: error handling packet' }) as const,
    ),
    ...found(settlement.timedOut).map(
      (view) => ({ kind: 'timed_out', view, error: 'ICA packet timed out' }) as const,
    ),
  ]
}
