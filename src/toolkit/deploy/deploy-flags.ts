/** The flags of `view deploy`, of all targets. */
import { usageError } from '../cli/exit-code.ts'
import type { KeyFlags } from '../wallet/signing-key.ts'
import type { SpendingFlags } from '../wallet/spending.ts'
import type { CometFlags } from './ended-registration.ts'
import type { DeployTarget } from './target.ts'

/** As they were typed. */
export interface DeployFlags extends KeyFlags, SpendingFlags, CometFlags {
  readonly target: string
  readonly host?: string
  readonly adminTokenFile?: string
  readonly rpc?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly prepare?: string
  readonly send?: string
  readonly viewFile?: string
  readonly report?: string
  readonly json?: boolean
}

type Flag = Exclude<keyof DeployFlags, 'target' | 'json'>

/** How a flag is typed, and the one target that has it. */
const flagTable: Readonly<Record<Flag, readonly [string, DeployTarget]>> = {
  host: ['--host', 'local'],
  adminTokenFile: ['--admin-token-file', 'local'],
  rpc: ['--rpc', 'devnet'],
  comet: ['--comet', 'devnet'],
  chainId: ['--chain-id', 'devnet'],
  maxFee: ['--max-fee', 'devnet'],
  wallet: ['--wallet', 'devnet'],
  keyFile: ['--key-file', 'devnet'],
  passwordFile: ['--password-file', 'devnet'],
  dryRun: ['--dry-run', 'devnet'],
  yes: ['--yes', 'devnet'],
  prepare: ['--prepare', 'devnet'],
  send: ['--send', 'devnet'],
  viewFile: ['--view-file', 'devnet'],
  report: ['--report', 'devnet'],
}

type Pair = readonly [Flag, Flag]

/** Of each pair one would be ignored: a dry run writes nothing. */
const contradictions: readonly Pair[] = [
  ['prepare', 'send'],
  ['prepare', 'dryRun'],
]

/** What is sent is signed already. */
const ofProject: readonly Pair[] = [
  ['send', 'wallet'],
  ['send', 'keyFile'],
  ['send', 'passwordFile'],
]

/** There the terms are no signature, the first step reports by its terms, and nobody is asked. */
const ofViewFile: readonly Pair[] = [
  ['viewFile', 'dryRun'],
  ['viewFile', 'yes'],
  ['prepare', 'report'],
]

/**
 * A flag that would be ignored is refused: who gives one counts on it, and a registered View is permanent.
 * @throws ServiceError `TOOLKIT_USAGE_INVALID` for a flag of another target, and for two that contradict each other
 */
export function checkDeployFlags(flags: DeployFlags, target: DeployTarget): void {
  const given = (Object.keys(flagTable) as Flag[]).filter((flag) => flags[flag] !== undefined)
  const foreign = given.find((flag) => flagTable[flag][1] !== target)
  if (foreign !== undefined) {
    const [typed, own] = flagTable[foreign]
    throw usageError(
      `${typed} is a flag of --target ${own}, and --target ${target} is given`,
      `Leave ${typed} out, or give --target ${own}.`,
    )
  }
  requireTogether(given, 'report', 'viewFile')
  const more = flags.viewFile === undefined ? ofProject : ofViewFile
  const isGiven = (pair: Pair): boolean => pair.every((flag) => given.includes(flag))
  const pair = [...contradictions, ...more].find(isGiven)
  if (pair === undefined) return
  const [one, other] = pair.map((flag) => flagTable[flag][0])
  throw usageError(`both ${one} and ${other} are given`, 'Give one of them.')
}

function requireTogether(given: readonly Flag[], flag: Flag, other: Flag): void {
  if (!given.includes(flag) || given.includes(other)) return
  const [typed, needed] = [flag, other].map((each) => flagTable[each][0])
  throw usageError(`${typed} is given without ${needed}`, `Leave ${typed} out, or give ${needed}.`)
}
