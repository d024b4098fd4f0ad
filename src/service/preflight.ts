/** Checks addresses before anything is written: one that is taken must not leave a key or half a store behind. */
import { createServer } from 'node:net'
import { type ListenAddress, portUnavailable } from './health/port-unavailable.ts'

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
