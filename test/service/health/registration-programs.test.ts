/** `GET /registration` of a whole Host and a whole Generator: what `viewmesh register` and dashboards get of them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { HealthReport } from '../../../src/service/contract.ts'
import type { RegistrationReport } from '../../../src/service/health/registration-route.ts'
import { openGeneratorInProcess } from '../../support/generator-in-process.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { isSigned } from '../../support/signed-registration.ts'
import { testDirectory } from '../../support/test-store.ts'

const env = {
  REGISTRATION_ADDRESS: `0x${'11'.repeat(20)}`,
  REGISTRATION_CHAIN_ID: '91273003',
  REGISTRATION_ENDPOINT: 'https://node.example.org',
  P2P_ANNOUNCE: '/ip4/203.0.113.7/tcp/9171',
}

/** Each opens its program and answers where its health port is. */
const programs: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  host: async (t) => {
    const { healthUrl, opened } = await openHostInProcess(t, testDirectory(t), env)
    await opened
    return healthUrl
  },
  generator: async (t) => {
    // A node that is not there keeps no Generator from saying who it is.
    const node = { NODE_RPC_URL: 'http://127.0.0.1:9' }
    const { healthPort } = await openGeneratorInProcess(t, testDirectory(t), { ...env, ...node })
    return `http://127.0.0.1:${healthPort}`
  },
}

/**
 * Service page: "nodes are identified by their identity key"; "peer ID readable at `.p2p.self.id`"; the registry dashboard asks
 * for `/health`, "using the IP in the `/ip4/<IP>/...` part of the Host's registered multiaddr".
 */
for (const [role, open] of Object.entries(programs))
  test(`a ${role} signs its registration with the identity and the address that /health has`, async (t) => {
    const url = await open(t)
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
