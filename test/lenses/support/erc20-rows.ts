/** What the lenses of ERC-20 tokens have to make of logs, from what viem decodes. */
import { decodeEventLog, erc20Abi, type Hex, toEventSelector, zeroAddress } from 'viem'
import type { LogDocument } from './fixture-logs.ts'

/** Addresses in lower case. */
export interface Transfer {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
}

interface LoggedTransfer extends Transfer {
  readonly log: LogDocument
}

const topicOfTransfer = toEventSelector('Transfer(address,address,uint256)')

/** The transfers of an ERC-20 token among these logs; those of an ERC-721 token have a fourth topic. */
export function transfersOf(token: Hex, logs: readonly LogDocument[]): LoggedTransfer[] {
  return logs
    .filter(({ address, topics }) => address === token && topics.length === 3)
    .filter(({ topics }) => topics[0] === topicOfTransfer)
    .map((log) => {
      const { args } = decodeEventLog({
        abi: erc20Abi,
        eventName: 'Transfer',
        data: log.data,
        topics: [...log.topics],
      })
      const { from, to, value } = args
      return { log, from: lower(from), to: lower(to), value }
    })
}

const lower = (address: Hex): Hex => address.toLowerCase() as Hex

/** The rows of `erc20_transfers`. */
export function transferRows(token: Hex, logs: readonly LogDocument[]): object[] {
  return transfersOf(token, logs).map(({ log, from, to, value }) => ({
    ...{ tokenAddress: token, hash: log.transaction.hash, from, to },
    ...{ amount: String(value), blockNumber: log.blockNumber },
  }))
}

/** The rows of `erc20_balances`. */
export function balanceRows(token: Hex, transfers: readonly Transfer[]): object[] {
  const accounts = new Map<string, { balance: bigint; txCount: number }>()
  const count = (account: Hex, change: bigint): void => {
    if (account === zeroAddress) return
    const { balance, txCount } = accounts.get(account) ?? { balance: 0n, txCount: 0 }
    accounts.set(account, { balance: balance + change, txCount: txCount + 1 })
  }
  for (const { from, to, value } of transfers) {
    count(from, from === to ? 0n : -value)
    if (from !== to) count(to, value)
  }
  return [...accounts].map(([account, { balance, txCount }]) => ({
    tokenAddress: token,
    account,
    balance: String(balance),
    txCount,
  }))
}
