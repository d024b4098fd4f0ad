/** Ports that were free a moment ago, for programs whose ports are settings. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Below what systems hand out for outgoing connections, which would take a port meanwhile. */
const lowest = 15_000
const highest = 32_000

/**
 * `count` different free ports on the loopback address. The one after each is free as well: a
 * Host's playground takes it.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held: Server[] = []
  const ports: number[] = []
  while (ports.length < count) {
    const port = randomInt(lowest, highest)
    const pair = await Promise.all([hold(port), hold(port + 1)])
    const free = pair.filter((server) => server !== null)
    held.push(...free)
    if (free.length === pair.length) ports.push(port)
  }
  await Promise.all(held.map(async (server) => await once(server.close(), 'close')))
  return ports
}

/** Listens on a port; null where another program does. */
async function hold(port: number): Promise<Server | null> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  } catch {
    return null
  }
}
