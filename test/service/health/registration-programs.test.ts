/** `GET /registration` of a whole Host and a whole Generator: what `viewmesh register` and dashboards get of them. */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import type { HealthReport } from '../../../src/service/contract.ts'
import { reachOf } from '../../../src/service/health/address-reach.ts'
import type { RegistrationReport } from '../../../src/service/health/registration-route.ts'
import { freePorts } from '../../support/free-port.ts'
import { openGeneratorInProcess } from '../../support/generator-in-process.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { openRawPeer } from '../../support/raw-peer.ts'
import { testDirectory } from '../../support/test-store.ts'
import { isSigned } from '../support/signed-registration.ts'

const env = {
  REGISTRATION_ADDRESS: `0x${'11'.repeat(20)}`,
  REGISTRATION_CHAIN_ID: '91273003',
  REGISTRATION_ENDPOINT: 'https://node.example.org',
  P2P_ANNOUNCE: '/ip4/203.0.113.7/tcp/9171',
}

type Settings = Readonly<Record<string, string>>

/** Each opens its program and answers where its health port is. */
const programs: Readonly<Record<string, (t: TestContext, set: Settings) => Promise<string>>> = {
  host: async (t, set) => {
    const { healthUrl, opened } = await openHostInProcess(t, testDirectory(t), set)
    await opened
    return healthUrl
  },
  generator: async (t, set) => {
    // A node that is not there keeps no Generator from saying who it is.
    const node = { NODE_RPC_URL: 'http://127.0.0.1:9' }
    const { healthPort } = await openGeneratorInProcess(t, testDirectory(t), { ...set, ...node })
    return `http://127.0.0.1:${healthPort}`
  },
}

/**
 * Service page: "nodes are identified by their identity key"; "peer ID readable at `.p2p.self.id`"; the registry dashboard asks
 * for `/health`, "using the IP in the `/ip4/<IP>/...` part of the Host's registered multiaddr".
 */
for (const [role, open] of Object.entries(programs))
  test(`a ${role} signs its registration with the identity and the address that /health has`, async (t) => {
    const url = await open(t, env)
    const ask = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json()
    const report = (await ask('/registration')) as RegistrationReport
    const { p2p, identity } = (await ask('/health')) as HealthReport
    const { registration, statement } = report
    assert.ok(isSigned(report))
    assert.equal(registration.defra_pk_registration.public_key, `0x${identity}`)
    assert.deepEqual(
      [registration.connection_string, registration.endpoint_address],
      [`${env.P2P_ANNOUNCE}/p2p/${p2p.self?.id}`, env.REGISTRATION_ENDPOINT],
    )
    assert.deepEqual(
      [statement.role, statement.chain_id, statement.address],
      [role, 91_273_003, env.REGISTRATION_ADDRESS],
    )
  })

/**
 * Service page: the dashboard requests "`http://<server-ip>:8080/health`, using the IP in the `/ip4/<IP>/...` part of the Host's
 * registered multiaddr"; a peer address is "of the form `/ip4/<generator-ip>/tcp/9171/p2p/<generator-peer-id>`".
 */
for (const [role, open] of Object.entries(programs))
  test(`the registered address of a ${role} is dialled by a peer, and its IP answers /health`, async (t) => {
    const ip = ownAddress()
    if (ip === undefined) return t.skip('this machine has no address but loopback')
    const [p2pPort = 0, healthPort = 0] = await freePorts(2)
    await open(t, {
      REGISTRATION_ADDRESS: env.REGISTRATION_ADDRESS,
      DB_P2P_LISTEN_ADDR: `/ip4/0.0.0.0/tcp/${p2pPort}`,
      HEALTH_ADDR: `0.0.0.0:${healthPort}`,
    })
    const url = `http://${ip}:${healthPort}`
    const report = (await (await fetch(`${url}/registration`)).json()) as RegistrationReport
    const registered = report.registration.connection_string
    const [, host = '', port, id = ''] =
      /^\/ip4\/([^/]+)\/tcp\/(\d+)\/p2p\/(\w+)$/.exec(registered) ?? []
    assert.equal(Number(port), p2pPort)

    const { p2p } = (await (
      await fetch(`http://${host}:${healthPort}/health`)
    ).json()) as HealthReport
    assert.equal(p2p.self?.id, id)
    const peer = await openRawPeer(t, { from: host })
    assert.equal((await peer.dial(registered)).remotePeer.toString(), id)
    const another = registered.replace(id, peer.id)
    await assert.rejects((await openRawPeer(t, { from: host })).dial(another))
  })

/** What others on its network reach this machine by. */
function ownAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(
    ({ family, address }) => family === 'IPv4' && reachOf(`/ip4/${address}`) !== 'nobody',
  )?.address
}
