/** Checks before anything starts whether the ports are free, so that nothing is left half started. */
import { createServer } from 'node:net'
import { ServiceError } from '../errors.ts'

/**
 * Listens on each port for a moment. Throws SERVICE_PORT_UNAVAILABLE with a fact for every port that cannot be had, under
 * the setting that moves it.
 */
export async function requireFreePorts(
  host: string,
  ports: readonly (readonly [setting: string, port: number])[],
): Promise<void> {
  const tried = await Promise.all(
    ports.map(async ([setting, port]) => ({ setting, port, problem: await problemOf(host, port) })),
  )
  const refused = tried.filter(({ problem }) => problem !== null)
  if (refused.length === 0) return
  throw new ServiceError('SERVICE_PORT_UNAVAILABLE', `ports of ${host} cannot be listened on`, {
    facts: Object.fromEntries(
      refused.map(({ setting, port, problem }) => [setting, `port ${port}, ${problem}`]),
    ),
    remedy:
      'Stop the program that uses them (perhaps one like this, started before), or set what is named above to other ports.',
  })
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'in use',
  EACCES: 'open to users with more rights only',
  EADDRNOTAVAIL: 'not to be had: DEVNET_LISTEN is not an address of this machine',
}

/** Null for a free port. */
function problemOf(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(reasons[error.code ?? ''] ?? `not to be had (${error.message})`),
    )
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}
