/** The flags of `view deploy`, of all targets. */
import type { KeyFlags } from '../wallet/signing-key.ts'
import type { SpendingFlags } from '../wallet/spending.ts'

/** As they were typed. */
export interface DeployFlags extends KeyFlags, SpendingFlags {
  readonly target: string
  readonly host?: string
  readonly adminTokenFile?: string
  readonly rpc?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly prepare?: string
  readonly send?: string
  readonly json?: boolean
}
