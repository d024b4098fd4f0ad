/**
 * Looks before anything is written: a port that is taken or a directory that cannot be used must
 * not leave a key or half a store behind.
 */
import { access, constants } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { ServiceError } from '../errors.ts'

/** Throws SERVICE_PORT_UNAVAILABLE where `multiaddr` cannot be listened on. */
export async function requireFreePort(multiaddr: string): Promise<void> {
  const [, , host = '', , port = ''] = multiaddr.split('/')
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | null>()
  const server = createServer()
  server.once('error', resolve)
  server.listen({ host, port: Number(port) }, () => server.close(() => resolve(null)))
  const problem = await promise
  if (problem === null) return
  const reason = problem.code === 'EADDRINUSE' ? 'is taken by another program' : problem.message
  throw new ServiceError('SERVICE_PORT_UNAVAILABLE', `DB_P2P_LISTEN_ADDR: ${multiaddr} ${reason}`, {
    facts: { setting: 'DB_P2P_LISTEN_ADDR', address: multiaddr },
    remedy: 'Stop the program that uses it, or set DB_P2P_LISTEN_ADDR to a free address.',
    cause: problem,
  })
}

/** Throws STORE_PATH_UNUSABLE where the directory, or the one it would be made in, is not writable. */
export async function requireWritable(path: string): Promise<void> {
  for (let directory = path; ; directory = dirname(directory)) {
    const problem = await access(directory, constants.W_OK | constants.X_OK).then(
      () => null,
      (error: NodeJS.ErrnoException) => error,
    )
    if (problem === null) return
    if (problem.code === 'ENOENT' && dirname(directory) !== directory) continue
    throw new ServiceError(
      'STORE_PATH_UNUSABLE',
      `The store directory ${path} cannot be used: ${problem.message}`,
      {
        facts: { path, found: problem.message },
        remedy:
          'Give this user write access to it, or choose another directory with db.store.path (DB_STORE_PATH).',
        cause: problem,
      },
    )
  }
}
