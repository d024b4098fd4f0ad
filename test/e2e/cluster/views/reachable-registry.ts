/** The development registry in this process, as pods of the cluster reach it. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../../src/devnet/registry/development-registry.ts'
import type { Cluster } from '../support/cluster.ts'
import { ownAddress } from '../support/reachable-server.ts'

interface ReachableRegistry {
  readonly registry: DevelopmentRegistry
  /** JSON-RPC, for pods. */
  readonly rpcUrl: string
  readonly lcdUrl: string
  /** CometBFT, for pods. */
  readonly cometUrl: string
  /** The next call of this method reaches the node, and its answer nobody. Resolves when that was so. */
  loseAnswer(method: string): Promise<void>
  close(): Promise<void>
}

/** It listens on loopback alone, so its ports are passed on. */
export async function openReachableRegistry(cluster: Cluster): Promise<ReachableRegistry> {
  const address = await ownAddress(cluster)
  const registry = await openDevelopmentRegistry({ acknowledgeMs: 200 })
  const servers: Server[] = []
  let lost: { readonly method: string; readonly done: () => void } | null = null
  const isLost = (sent: Buffer): boolean => {
    if (lost === null || !sent.includes(lost.method)) return false
    lost.done()
    lost = null
    return true
  }
  const reachable = async (url: string): Promise<string> => {
    const server = passOn(Number(new URL(url).port), isLost)
    servers.push(server)
    server.listen(0, address)
    await once(server, 'listening')
    return `http://${address}:${(server.address() as AddressInfo).port}`
  }
  return {
    registry,
    rpcUrl: await reachable(registry.rpcUrl),
    lcdUrl: await reachable(registry.lcdUrl),
    cometUrl: await reachable(registry.cometUrl),
    loseAnswer(method) {
      const { promise, resolve } = Promise.withResolvers<void>()
      lost = { method, done: resolve }
      return promise
    },
    async close() {
      for (const server of servers) server.close()
      await registry.close()
    },
  }
}

/** `isLost` is asked of all that is sent there. */
function passOn(port: number, isLost: (sent: Buffer) => boolean): Server {
  return createServer((from) => {
    const to = connect(port, '127.0.0.1')
    from.on('data', (sent: Buffer) => {
      if (isLost(sent))
        to.unpipe(from)
          .once('data', () => from.destroy())
          .resume()
    })
    from.pipe(to).pipe(from)
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    to.on('error', () => from.destroy())
  })
}
