/** The token that opens the routes which change the Views of a Host; it never comes from the command line. */
import { resolve } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { readBoundedFile } from '../../read-bounded.ts'
import type { Terminal } from '../cli/terminal.ts'

/** Of the file: tokens are shorter by far. */
const maxBytes = 4096

/**
 * From `--admin-token-file`, `HOST_ADMIN_TOKEN` or `HOST_ADMIN_TOKEN_FILE`, whichever is first; null without any.
 * @throws ServiceError `TOOLKIT_INPUT_UNREADABLE`
 */
export async function readAdminToken(
  { env, cwd }: Terminal,
  file: string | undefined,
): Promise<string | null> {
  const given = file ?? (env['HOST_ADMIN_TOKEN'] ? undefined : env['HOST_ADMIN_TOKEN_FILE'])
  if (given === undefined || given === '') return env['HOST_ADMIN_TOKEN'] || null
  const path = resolve(cwd, given)
  try {
    return (await readBoundedFile(path, maxBytes)).toString().trim()
  } catch (cause) {
    throw new ServiceError('TOOLKIT_INPUT_UNREADABLE', `the admin token ${given} cannot be read`, {
      facts: { path },
      remedy:
        'Name the file that the Host has as HOST_ADMIN_TOKEN_FILE; npm start prints the token itself.',
      cause,
    })
  }
}
