/**
 * The way between a program and its execution node, HTTP and WebSocket alike, which can be taken away: then the node
 * refuses, or it takes connections and says nothing more.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export const absences = ['refuses', 'hangs'] as const
export type Absence = (typeof absences)[number]

export interface NodeLink {
  readonly url: string
  readonly wsUrl: string
  /** Takes the node away until `comeBack`. */
  leave(absence: Absence): Promise<void>
  comeBack(): Promise<void>
  close(): Promise<void>
}

/** Opens a way on a free port to the node at a port of this machine. */
export async function openNodeLink(nodePort: number): Promise<NodeLink> {
  const sockets = new Set<Socket>()
  let isHanging = false
  const hold = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    hold(client)
    if (isHanging) return
    const node = connect(nodePort, '127.0.0.1')
    hold(node)
    client.pipe(node).pipe(client)
    client.once('close', () => node.destroy())
    node.once('close', () => client.destroy())
  })
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const stopListening = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    cut()
    await closed
  }
  const port = await listen(0)
  return {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    async leave(absence) {
      if (absence === 'refuses') return await stopListening()
      isHanging = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    async comeBack() {
      isHanging = false
      cut()
      if (!server.listening) await listen(port)
    },
    close: stopListening,
  }
}
