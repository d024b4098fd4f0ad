/**
 * The transactions of the development chain: every kind that the collections describe. `planBlock`
 * returns those of a block; `openLoad` sends them, about once a second.
 */
import type { Logger } from 'pino'
import {
  type Abi,
  type Address,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  parseEther,
  stringToHex,
  toHex,
} from 'viem'
import { invariant } from '../errors.ts'
import { callNode, callNodeBatch, type RpcAddress } from './rpc.ts'
import contracts from './token.json' with { type: 'json' }

/** A transaction as `eth_sendTransaction` takes it; the node signs it for an unlocked account. */
interface TransactionRequest {
  readonly type: '0x0' | '0x1' | '0x2'
  readonly from: Address
  /** Left out where the transaction creates a contract. */
  readonly to?: Address
  readonly value?: Hex
  readonly data?: Hex
  readonly gas: Hex
  readonly gasPrice?: Hex
  readonly maxFeePerGas?: Hex
  readonly maxPriorityFeePerGas?: Hex
  readonly accessList?: readonly AccessListItem[]
}

interface AccessListItem {
  readonly address: Address
  readonly storageKeys: readonly Hex[]
}

interface Load {
  /** Address of the token. */
  readonly token: string
  /** Stops sending; what was sent is still mined. */
  close(): Promise<void>
}

const tokenAbi = contracts.Token.abi as Abi
const noteAbi = contracts.Note.abi as Abi
const supply = parseEther('1000000000')
const oneToken = parseEther('1')
const gasPrice = toHex(2_000_000_000)
const everyMs = 1_000

/** The token belongs to the first account and is the first thing it creates. */
function tokenAddress(accounts: readonly Address[]): Address {
  return getContractAddress({ from: account(accounts, 0), nonce: 0n })
}

/** The transaction that creates the token and gives its supply to the first account. */
export function tokenCreation(accounts: readonly Address[]): TransactionRequest {
  const bytecode = contracts.Token.bytecode as Hex
  return {
    ...legacy(account(accounts, 0)),
    gas: toHex(2_000_000),
    data: encodeDeployData({ abi: tokenAbi, bytecode, args: [supply] }),
  }
}

/**
 * The transactions of the `n`th block of load; no two share a sender, so their order of arrival
 * does not matter. Needs ten accounts.
 */
export function planBlock(accounts: readonly Address[], n: number): TransactionRequest[] {
  const token = tokenAddress(accounts)
  const [owner, ...others] = accounts
  invariant(owner !== undefined && others.length >= 9, 'the load needs ten accounts')
  const at = (index: number): Address => account(others, (index + n) % others.length)
  const pay = (to: Address): Pick<TransactionRequest, 'to' | 'data'> => ({
    to: token,
    data: call('transfer', [to, toHex(n + 1)]),
  })
  const plan: TransactionRequest[] = [
    { ...dynamic(owner), to: token, data: call('payAll', [[0, 2, 4, 6, 8].map(at), oneToken]) },
    { ...legacy(at(0)), to: at(1), value: toHex(1_000_000_000_000_000n + BigInt(n)) },
    { ...legacy(at(1)), ...pay(at(2)) },
    { ...dynamic(at(2)), ...pay(at(3)) },
    {
      ...legacy(at(3)),
      type: '0x1',
      ...pay(at(4)),
      accessList: balancesOf(token, [at(3), at(4)], n % 10 === 0),
    },
    {
      ...dynamic(at(4)),
      ...pay(at(5)),
      accessList: balancesOf(token, [at(4), at(5)], false),
    },
    { ...dynamic(at(5)), to: token, data: call('approve', [at(6), oneToken]) },
  ]
  if (n % 3 === 0) plan.push({ ...dynamic(at(6)), data: note(n) })
  if (n % 5 === 0) plan.push({ ...dynamic(at(7)), to: token, data: tooMuch(at(8)) })
  return plan
}

/**
 * Creates the token where the chain has none yet, then sends a block's worth every second until the signal: programs
 * take seconds to stop, and the node may be what they stop for.
 */
export async function openLoad(
  options: { readonly node: RpcAddress },
  parts: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<Load> {
  const { node } = options
  const accounts = (await callNode(node, { method: 'eth_accounts', params: [] })) as Address[]
  await createToken(node, accounts)
  let n = Number(await callNode(node, { method: 'eth_blockNumber', params: [] }))
  let sending: Promise<void> = Promise.resolve()
  const sendNext = async (): Promise<void> => {
    if (parts.signal.aborted) return
    try {
      const [refusal] = await callNodeBatch(node, planBlock(accounts, n++).map(send))
      if (refusal !== undefined)
        parts.log.warn({ reason: refusal }, 'the node refused a transaction')
    } catch (error) {
      if (!parts.signal.aborted)
        parts.log.warn({ err: error }, 'transactions could not be sent to the node')
    }
  }
  const timer = setInterval(() => {
    sending = sending.then(sendNext)
  }, everyMs)
  return {
    token: tokenAddress(accounts),
    async close() {
      clearInterval(timer)
      await sending
    },
  }
}

async function createToken(node: RpcAddress, accounts: readonly Address[]): Promise<void> {
  const code = await callNode(node, {
    method: 'eth_getCode',
    params: [tokenAddress(accounts), 'latest'],
  })
  if (code === '0x') await callNode(node, send(tokenCreation(accounts)))
}

function send(transaction: TransactionRequest): { method: string; params: unknown[] } {
  return { method: 'eth_sendTransaction', params: [transaction] }
}

function legacy(from: Address): TransactionRequest {
  return { type: '0x0', from, gas: toHex(150_000), gasPrice }
}

function dynamic(from: Address): TransactionRequest {
  return {
    type: '0x2',
    from,
    gas: toHex(400_000),
    maxFeePerGas: gasPrice,
    maxPriorityFeePerGas: toHex(1_000_000_000),
  }
}

function call(functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: tokenAbi, functionName, args })
}

/** A transfer that the token refuses: a transaction with status false and no logs. */
function tooMuch(to: Address): Hex {
  return call('transfer', [to, supply])
}

function note(n: number): Hex {
  const bytecode = contracts.Note.bytecode as Hex
  const subject = keccak256(stringToHex('development chain'))
  return encodeDeployData({
    abi: noteAbi,
    bytecode,
    args: [subject, n, `note ${n} of the development chain`],
  })
}

/** The storage a transfer touches; `twice` repeats the first entry, which a list may (EIP-2930). */
function balancesOf(
  token: Address,
  holders: readonly Address[],
  twice: boolean,
): readonly AccessListItem[] {
  const item = { address: token, storageKeys: holders.map(balanceSlot) }
  return twice ? [item, item] : [item, ...holders.map((address) => ({ address, storageKeys: [] }))]
}

/** Where Solidity keeps `balanceOf[holder]`, the contract's first mapping. */
function balanceSlot(holder: Address): Hex {
  return keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [holder, 0n]))
}

function account(accounts: readonly Address[], index: number): Address {
  const found = accounts[index]
  invariant(found !== undefined, `there is no account ${index}`)
  return found
}
