/** A way to the real API server that can be cut, as when it restarts, for programs that are given a kubeconfig. */
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { parse, stringify } from 'yaml'

export interface KubernetesProxy {
  /** Breaks all connections and takes no more. */
  cut(): void
  restore(): void
  close(): Promise<void>
}

/** Writes to `to` the kubeconfig `from` with this way to its server. */
export async function openKubernetesProxy(from: string, to: string): Promise<KubernetesProxy> {
  const config = parse(readFileSync(from, 'utf8'))
  const { cluster } = config.clusters[0]
  const target = new URL(cluster.server)
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((socket) => {
    keep(socket)
    if (isCut) {
      socket.destroy()
      return
    }
    const onward = connect(Number(target.port), target.hostname)
    keep(onward)
    socket.pipe(onward).pipe(socket)
    socket.on('close', () => onward.destroy())
    onward.on('close', () => socket.destroy())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  cluster.server = `https://127.0.0.1:${port}`
  cluster['tls-server-name'] = target.hostname
  writeFileSync(to, stringify(config))
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    cut() {
      isCut = true
      breakAll()
    },
    restore() {
      isCut = false
    },
    async close() {
      breakAll()
      await new Promise((done) => server.close(done))
    },
  }
}
