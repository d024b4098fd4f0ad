/** Checks before anything starts whether the ports are free, so that nothing is left half started. */
import { createServer } from 'node:net'
import { ServiceError } from '../errors.ts'

/**
 * Listens on each port for a moment. Throws SERVICE_PORT_UNAVAILABLE, naming every port that
 * cannot be had with the setting that moves it.
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
  const texts = [...Map.groupBy(refused, ({ problem }) => problem)].map(
    ([problem, found]) => `${found.map(nameOf).join(', ')} ${problem}`,
  )
  throw new ServiceError('SERVICE_PORT_UNAVAILABLE', `${host}: ${texts.join('; ')}`, {
    facts: { host, ports: refused.map(({ port }) => port).join(' ') },
    remedy:
      'Stop the program that uses it (perhaps one like this, started before), or set what is named in brackets to another port.',
  })
}

function nameOf({ setting, port }: { setting: string; port: number }): string {
  return `port ${port} (${setting})`
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
