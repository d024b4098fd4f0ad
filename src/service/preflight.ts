/**
 * Looks before anything is written: an address that is taken or a directory that cannot be used
 * must not leave a key or half a store behind.
 */
import { access, constants } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { ServiceError } from '../errors.ts'
import { type ListenAddress, portUnavailable } from './port-unavailable.ts'
import type { Address } from './setting-kinds.ts'

/** The address of a multiaddr such as `/ip4/0.0.0.0/tcp/9171`. */
export function tcpAddress(multiaddr: string): Address {
  const [, , host = '', , port = ''] = multiaddr.split('/')
  return { host, port: Number(port) }
}

/** Throws SERVICE_PORT_UNAVAILABLE, naming the setting, where the address cannot be listened on. */
export async function requireFree(listen: ListenAddress): Promise<void> {
  const { host, port } = listen.address
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | null>()
  const server = createServer()
  server.once('error', resolve)
  server.listen({ host, port }, () => server.close(() => resolve(null)))
  const problem = await promise
  if (problem !== null) throw portUnavailable(listen, problem)
}

/** Throws STORE_PATH_UNUSABLE where the directory, or the one it would be made in, is not writable. */
export async function requireWritable(path: string): Promise<void> {
  for (let directory = path; ; directory = dirname(directory)) {
    const problem = await access(directory, constants.W_OK | constants.X_OK).then(
      () => null,
      (error: NodeJS.ErrnoException) => error,
    )
    if (problem === null) return
    if (problem.code !== 'ENOENT' || dirname(directory) === directory) throw unusable(path, problem)
  }
}

function unusable(path: string, problem: NodeJS.ErrnoException): ServiceError {
  const message = `The store directory ${path} cannot be used: ${problem.message}`
  return new ServiceError('STORE_PATH_UNUSABLE', message, {
    facts: { path, found: problem.code ?? 'unknown' },
    remedy:
      'Give this user write access to it, or choose another directory with db.store.path (DB_STORE_PATH).',
    cause: problem,
  })
}
