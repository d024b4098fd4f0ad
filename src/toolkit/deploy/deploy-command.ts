/** `view deploy`: one function for each target. */
import type { Terminal } from '../cli/terminal.ts'
import { checkDeployFlags, type DeployFlags } from './deploy-flags.ts'
import { parseTarget } from './target.ts'

/** Deploys a View. @throws ServiceError `TOOLKIT_USAGE_INVALID` before anything is read where a flag would be ignored */
export async function deployView(
  terminal: Terminal,
  name: string,
  flags: DeployFlags,
): Promise<void> {
  const target = parseTarget(flags.target, flags.rpc)
  checkDeployFlags(flags, target)
  if (target === 'local') return (await import('./local.ts')).deployLocally(terminal, name, flags)
  return (await import('./devnet.ts')).deployToDevnet(terminal, name, flags)
}
