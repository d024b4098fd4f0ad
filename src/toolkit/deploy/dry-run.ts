/** What `--dry-run` shows of a registration: its cost and its state on the chain. Nothing here sends or writes. */
import type { RegistryClient } from '../../registry/precompile/registry-client.ts'
import { printResult, remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { viewIDsText } from '../cli/view-ids-text.ts'
import type { DeployFlags } from './deploy-flags.ts'
import { type Prepared, type PreparedPrice, preparedPrice } from './prepared-file.ts'
import { type Registrant, shownOf } from './registrant.ts'
import { type Cost, costOf, costText } from './registration-cost.ts'

/** The chain behind `--rpc`. */
export interface Chain {
  readonly client: RegistryClient
  /** As deployments are listed by it: without what may be secret. */
  readonly endpoint: string
  /** Its consensus RPC; null where that is not known. */
  readonly cometUrl: string | null
}

interface DryRun {
  readonly registrant: Registrant
  readonly chainId: number
  /** Null before it is signed. */
  readonly transaction: string | null
}

/** What `--send` would send, and what the chain says of it now. @throws ServiceError those of the chain */
export async function dryRunPrepared(
  terminal: Terminal,
  { client, endpoint }: Chain,
  prepared: Prepared,
  flags: DeployFlags,
): Promise<void> {
  const { chainId, hash: transaction, address, creator, wire } = prepared
  const said = await client.chainId()
  if (said !== chainId)
    remark(terminal, `the node calls its chain ${said}; what was prepared is for chain ${chainId}`)
  const dryRun = { registrant: prepared, chainId, transaction }
  const { status } = await client.getView(address)
  const price = await preparedPrice(prepared)
  if (status !== 'none' || price === null) {
    const state = status === 'none' ? 'not registered' : status
    return printNothingToSend(terminal, dryRun, state, flags)
  }
  const { bytes, estimate } = await costOf(client, creator, wire)
  const { gas, fee } = price
  const cost = { bytes, estimate: { ...estimate, gas, fee } }
  remark(terminal, costText(prepared, { chainId, endpoint }, cost))
  warnOfNonce(terminal, price, estimate.nonce)
  printDryRun(terminal, dryRun, cost, flags)
}

function warnOfNonce(terminal: Terminal, { nonce }: PreparedPrice, next: number): void {
  if (nonce === next) return
  const what =
    nonce < next
      ? 'it was sent before, or cannot be sent any more'
      : 'it waits for the transactions before it'
  remark(terminal, `its nonce is ${nonce}, and the next of the sender is ${next}: ${what}`)
}

/** Prints the result of a dry run. */
export function printDryRun(
  terminal: Terminal,
  { registrant, chainId, transaction }: DryRun,
  { estimate, bytes }: Cost,
  { json }: DeployFlags,
): void {
  const { gas, fee, balance } = estimate
  const numbers = { bytes, gas: String(gas), fee: String(fee), balance: String(balance) }
  const sent = transaction === null ? {} : { transaction }
  const value = { ...shownOf(registrant), chainId, ...sent, ...numbers, state: 'not sent' }
  const text = `nothing was sent; ${registrant.view} would be View ${viewIDsText(registrant)}`
  printResult(terminal, value, { json, text })
}

/** Prints the result where the chain knows the View already. */
export function printNothingToSend(
  terminal: Terminal,
  { registrant, chainId, transaction }: DryRun,
  state: string,
  { json }: DeployFlags,
): void {
  const value = { ...shownOf(registrant), chainId, transaction, state }
  const text = `nothing is to be sent; View ${viewIDsText(registrant)} is ${state}`
  printResult(terminal, value, { json, text })
}
