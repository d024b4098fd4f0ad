/**
 * Start here for applications, as `viewmesh/app`: follow Views from Hosts into a store of your own, and query it, with
 * Hosts in reach or without. Rows are stored once enough Hosts have signed exactly the same ones.
 */
import type { App, AppOptions } from './contract.ts'
import { usualPatience } from './follow/patience.ts'
import { openRunningApp } from './running-app.ts'

export type * from './contract.ts'

/**
 * Opens the store, and follows the Views from then on; it need not reach a Host first.
 * @throws ServiceError `APP_OPTION_INVALID`, `P2P_ADDRESS_INVALID`, or what the store throws: `STORE_LOCKED` for one that
 *   another program has open.
 */
export function openApp(options: AppOptions): Promise<App> {
  return openRunningApp({ ...options, patience: usualPatience })
}
