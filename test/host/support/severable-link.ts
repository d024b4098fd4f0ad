/** A connection between two nodes on loopback that a test can sever and mend. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface SeverableLink {
  /** Where to dial the node behind the link, with its peer ID. */
  readonly address: string
  /** Ends what is connected, and refuses what comes until it is mended. */
  sever(): void
  mend(): void
}

/** A link to a node on 127.0.0.1, whole at first; closed after the test. */
export async function openSeverableLink(t: TestContext, target: string): Promise<SeverableLink> {
  const [, port = '', id = ''] = /\/tcp\/(\d+)\/p2p\/(\w+)$/.exec(target) ?? []
  const sockets = new Set<Socket>()
  let isSevered = false
  const server = createServer((near) => {
    if (isSevered) return void near.destroy()
    const far = connect(Number(port), '127.0.0.1')
    const end = (): void => {
      for (const socket of [near, far]) socket.destroy()
      sockets.delete(near)
    }
    sockets.add(near)
    for (const socket of [near, far]) socket.on('close', end).on('error', end)
    near.pipe(far)
    far.pipe(near)
  })
  const sever = (): void => {
    isSevered = true
    for (const socket of [...sockets]) socket.destroy()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    sever()
    server.close()
  })
  const own = server.address() as AddressInfo
  return {
    address: `/ip4/127.0.0.1/tcp/${own.port}/p2p/${id}`,
    sever,
    mend: () => {
      isSevered = false
    },
  }
}
