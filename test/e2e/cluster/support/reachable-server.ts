/** An HTTPS server of this process that the cluster reaches. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { V1Node } from '@kubernetes/client-node'
import { makeCertificate } from '../../../support/certificate.ts'
import { type Cluster, expectStatus } from './cluster.ts'

export interface ReachableServer {
  readonly address: string
  readonly port: number
  /** Its certificate with the key, for the address; nobody signed it. */
  readonly pem: string
  close(): void
}

export async function openReachableServer(
  cluster: Cluster,
  listener: RequestListener,
): Promise<ReachableServer> {
  const address = await ownAddress(cluster)
  const pem = makeCertificate(`IP:${address}`)
  const server = createServer({ key: pem, cert: pem }, listener)
  server.listen(0, address)
  await once(server, 'listening')
  return {
    address,
    port: (server.address() as AddressInfo).port,
    pem,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** An address of this machine that the cluster reaches. */
export async function ownAddress(cluster: Cluster): Promise<string> {
  return await addressTowards(await nodeAddress(cluster))
}

/** The address of any machine of the cluster. */
async function nodeAddress(cluster: Cluster): Promise<string> {
  const { body } = await expectStatus(cluster.request('GET', '/api/v1/nodes'), 200)
  const { items = [] } = body as { readonly items?: readonly V1Node[] }
  const addresses = items.flatMap(({ status }) => status?.addresses ?? [])
  const found = addresses.find(({ type }) => type === 'InternalIP')
  if (found === undefined) throw new Error('no machine of the cluster has an address')
  return found.address
}

/** Ours, as that machine sees it; nothing is sent. */
async function addressTowards(address: string): Promise<string> {
  const socket = createSocket('udp4')
  socket.connect(9, address)
  await once(socket, 'connect')
  const own = socket.address().address
  socket.close()
  return own
}
