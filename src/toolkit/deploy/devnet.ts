/** Registering a View on the registry chain. */
import { ServiceError } from '../../errors.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { DeployFlags } from './deploy-flags.ts'

/** @throws ServiceError `TOOLKIT_TARGET_UNSUPPORTED` */
export async function deployToDevnet(
  _terminal: Terminal,
  name: string,
  _flags: DeployFlags,
): Promise<void> {
  throw new ServiceError('TOOLKIT_TARGET_UNSUPPORTED', "target 'devnet' not yet supported", {
    facts: { view: name },
    remedy: 'Deploy to local.',
  })
}
