/** Where a View is deployed to. */
import { ServiceError } from '../../errors.ts'
import { usageError } from '../cli/exit-code.ts'

/** All that are known. */
export const targets = ['local', 'devnet', 'mainnet'] as const

/** A target that works. */
export type DeployTarget = Exclude<(typeof targets)[number], 'mainnet'>

/** @throws ServiceError `TOOLKIT_USAGE_INVALID`, `TOOLKIT_TARGET_UNSUPPORTED` */
export function parseTarget(given: string, rpc: string | undefined): DeployTarget {
  const target = targets.find((each) => each === given)
  if (target === undefined)
    throw usageError(
      `invalid target '${given}'. Must be one of: ${targets.join(', ')}`,
      'Give one of them with --target.',
    )
  if (target === 'mainnet')
    throw new ServiceError('TOOLKIT_TARGET_UNSUPPORTED', "target 'mainnet' not yet supported", {
      remedy: 'Deploy to local or devnet.',
    })
  if (target === 'devnet' && (rpc ?? '') === '')
    throw usageError(
      '--rpc is required when --target is devnet',
      'Give the JSON-RPC of a node of the registry chain; npm start prints one.',
    )
  return target
}
