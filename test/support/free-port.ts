/** Ports that were free a moment ago, for programs whose ports are settings. */
import { createServer } from 'node:net'

/** Asks the system for `count` different free ports on the loopback address. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(async (server) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      server.once('error', reject).listen(0, '127.0.0.1', resolve)
      await promise
      const address = server.address()
      if (address === null || typeof address === 'string') throw new Error('no port')
      return address.port
    }),
  )
  for (const server of servers) {
    const { promise, resolve } = Promise.withResolvers<void>()
    server.close(() => resolve())
    await promise
  }
  return ports
}
