/** A stand-in for the API server and clients of it, for the tests of a file. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach } from 'node:test'
import { type Client, type ClientOptions, openClient } from './kubernetes-client.ts'
import { type KubernetesServer, openKubernetesServer } from './kubernetes-server.ts'

/** All of it belongs to the test that runs. */
interface KubernetesRoom {
  readonly server: KubernetesServer
  readonly client: Client
  /** One more client. */
  openClient(options: ClientOptions): Client
}

/**
 * Gives each test of a file a server without objects and a client, and closes them after it. What else a test
 * has to close first is closed in an `afterEach` above this.
 */
export function kubernetesRoom(options: ClientOptions = {}): KubernetesRoom {
  let server: KubernetesServer | undefined
  let clients: Client[] = []
  const ofTest = (): KubernetesServer => server ?? assert.fail('no test runs')
  const open = (given: ClientOptions): Client => {
    const client = openClient(ofTest(), given)
    clients.push(client)
    return client
  }
  beforeEach(async () => {
    server = await openKubernetesServer()
    open(options)
  })
  afterEach(async () => {
    for (const { api } of clients) await api.close()
    clients = []
    await server?.close()
  })
  return {
    get server() {
      return ofTest()
    },
    get client() {
      return clients[0] ?? assert.fail('no test runs')
    },
    openClient: open,
  }
}
