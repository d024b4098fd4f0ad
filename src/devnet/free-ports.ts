/** Finds out before anything starts whether the ports are free, so that no half is left running. */
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
  const problems = await Promise.all(ports.map(([, port]) => problemOf(host, port)))
  const refused = ports.filter((_, index) => problems[index] !== null)
  if (refused.length === 0) return
  const lines = ports.flatMap(([setting, port], index) => {
    const problem = problems[index]
    return problem === null ? [] : [`port ${port} (${setting}) ${problem}`]
  })
  const settings = [...new Set(refused.map(([setting]) => setting))].join(', ')
  throw new ServiceError('SERVICE_PORT_UNAVAILABLE', `${host}: ${lines.join(', ')}`, {
    facts: { host, ports: refused.map(([, port]) => port).join(' ') },
    remedy: `Stop the program that uses it (perhaps this one, started before), or set ${settings} to other ports.`,
  })
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'needs more rights than this user has',
  EADDRNOTAVAIL: 'cannot be opened: DEVNET_LISTEN is not an address of this machine',
}

/** Null for a free port. */
function problemOf(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(reasons[error.code ?? ''] ?? `cannot be opened (${error.message})`),
    )
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}
