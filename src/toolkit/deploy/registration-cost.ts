/** What registering a View takes, for people to decide. */
import type { Estimate, RegistryClient } from '../../registry/precompile/registry-client.ts'
import { viewLimits } from '../../views/view.ts'
import { amountText } from '../wallet/coin-amount.ts'

/** In bytes, gas and the smallest units of the coin. */
export interface Cost {
  readonly bytes: number
  readonly estimate: Estimate
}

/** Asks the chain. @throws ServiceError `REGISTRY_REFUSED` where it would not take the View */
export async function costOf(
  client: RegistryClient,
  creator: string,
  wire: Uint8Array,
): Promise<Cost> {
  return { bytes: wire.length, estimate: await client.estimate(creator, wire) }
}

interface Shown {
  readonly view: string
  readonly revision: number
  readonly id: string
  readonly address: string
  readonly creator: string
}

/** Several lines. */
export function costText(
  { view, revision, id, address, creator }: Shown,
  { chainId, endpoint }: { readonly chainId: number; readonly endpoint: string },
  { bytes, estimate: { gas, fee, balance } }: Cost,
): string {
  return [
    `${view} (version ${revision}) to chain ${chainId} at ${endpoint}`,
    `  ID:      ${id}`,
    `  address: ${address}`,
    `  sender:  ${creator}`,
    `  size:    ${bytes} bytes of at most ${viewLimits.wire}`,
    `  gas:     ${gas} at most`,
    `  fee:     ${amountText(fee)} at most`,
    `  balance: ${amountText(balance)}`,
  ].join('\n')
}
