/**
 * What may be signed: for which chain, and for how much. Chain ID and fee come from the node behind `--rpc`, which may be a
 * stranger's: it could name the ID of another chain, where the signature holds as well, or a fee that takes all coins.
 */
import { ServiceError } from '../../errors.ts'
import { registryChainIds } from '../../registry/registry-chains.ts'
import { networkOfChainId } from '../../service/known-networks.ts'
import { usageError } from '../cli/exit-code.ts'
import { remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { amountText, parseAmount } from './coin-amount.ts'

/** As they were typed. */
export interface SpendingFlags {
  readonly chainId?: string
  readonly maxFee?: string
}

/** What the flags allow. */
export interface SpendingLimits {
  /** What is signed for; null where the node says it. */
  readonly chainId: number | null
  /** Smallest units of the coin. */
  readonly maxFee: bigint
}

/** 0.1 SHNZ: a View of the largest size costs less up to a price of 14 gwei. */
const defaultMaxFee = 10n ** 17n

/** @throws ServiceError `TOOLKIT_USAGE_INVALID` */
export function parseSpending({ chainId, maxFee }: SpendingFlags): SpendingLimits {
  if (chainId !== undefined && !/^[1-9]\d{0,14}$/.test(chainId))
    throw usageError(`'${chainId}' is not a chain ID`, 'Give a number, or leave --chain-id out.')
  const amount = maxFee === undefined ? defaultMaxFee : parseAmount(maxFee)
  if (amount === null)
    throw usageError(`'${maxFee}' is not an amount of SHNZ`, 'Give --max-fee as in 0.25.')
  return { chainId: chainId === undefined ? null : Number(chainId), maxFee: amount }
}

/** For what was prepared before, `--chain-id` can only be compared. @throws ServiceError `TOOLKIT_USAGE_INVALID` */
export function requireNamedChain(prepared: number, { chainId }: SpendingLimits): void {
  if (chainId === null || chainId === prepared) return
  throw usageError(
    `what was prepared is for chain ${prepared}`,
    'Give that with --chain-id, or leave it out.',
  )
}

/**
 * The chain ID that is signed for: what `--chain-id` names, else what the node says, where that is a registry chain's.
 * @throws ServiceError `TOOLKIT_CHAIN_REFUSED`, and what `ask` throws
 */
export async function chainToSignFor(
  terminal: Terminal,
  { chainId: named }: SpendingLimits,
  ask: () => Promise<number>,
): Promise<number> {
  const said = await ask()
  if (named !== null) {
    if (said !== named)
      remark(terminal, `the node calls its chain ${said}; what is signed is for chain ${named}`)
    return named
  }
  if (knownIds.includes(said)) return said
  const network = networkOfChainId(said)
  const what = network === null ? 'no known registry chain' : `${network}, no registry chain`
  throw new ServiceError(
    'TOOLKIT_CHAIN_REFUSED',
    `the node of --rpc is on chain ${said}: ${what}`,
    { remedy: 'Check --rpc. Where you do mean that chain, name it with --chain-id.' },
  )
}

const knownIds: readonly number[] = Object.values(registryChainIds)

interface Price {
  /** At most. */
  readonly fee: bigint
  readonly balance: bigint
}

/** @throws ServiceError `TOOLKIT_FEE_HIGH`, with this remedy */
export function requireAllowedFee(fee: bigint, { maxFee }: SpendingLimits, remedy: string): void {
  if (fee <= maxFee) return
  throw new ServiceError(
    'TOOLKIT_FEE_HIGH',
    `registering may cost ${amountText(fee)}, and at most ${amountText(maxFee)} may be spent`,
    { remedy },
  )
}

const highPriceRemedy =
  'Check --rpc, which names the price of gas. To pay as much, allow it with --max-fee, in SHNZ.'

/** @throws ServiceError `TOOLKIT_FEE_HIGH`, `TOOLKIT_BALANCE_LOW` */
export function requireAffordable(
  { fee, balance }: Price,
  account: string,
  limits: SpendingLimits,
): void {
  requireAllowedFee(fee, limits, highPriceRemedy)
  if (balance >= fee) return
  throw new ServiceError(
    'TOOLKIT_BALANCE_LOW',
    `${account} has ${amountText(balance)}, and registering may cost ${amountText(fee)}`,
    {
      facts: { account, balance, fee },
      remedy: 'Send coins to that address: test networks have a faucet; npm start has funded keys.',
    },
  )
}
