/** `GET /registration`: signed for one account, whatever is asked, and verifiable as the registry chain verifies it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import { createSigner } from '../../../src/identity/signature.ts'
import { createOwnAddresses } from '../../../src/p2p/peers/own-addresses.ts'
import { openHttpServer } from '../../../src/service/health/http-server.ts'
import {
  type RegisteringNode,
  type RegistrationReport,
  registrationRoute,
} from '../../../src/service/health/registration-route.ts'
import { captureLog } from '../../support/captured-log.ts'
import { isSigned } from '../support/signed-registration.ts'

const signer = createSigner({ type: 'ES256K', privateKey: new Uint8Array(32).fill(7) })
const address = `0x${'11'.repeat(20)}`
const node: RegisteringNode = {
  signer,
  self: () => ({ id: '12D3KooWPeer', addresses: ['/ip4/10.0.0.2/tcp/9171'] }),
  announced: () => [],
}
const settings = {
  registrationAddress: address,
  registrationChainId: 91_273_001,
  registrationEndpoint: 'https://host.example.org/api/v0/graphql',
  registrationMessage: 'bound' as const,
  chainName: 'Ethereum',
  chainNetwork: 'Mainnet',
}

test('a node signs once a minute, and not a millisecond sooner', async (t) => {
  let signatures = 0
  const sign: typeof signer.sign = (message) => {
    signatures += 1
    return signer.sign(message)
  }
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, setting: 'none' },
    {
      log: captureLog().log,
      routes: (routes) =>
        registrationRoute(routes, settings, {
          role: 'host',
          node: () => ({ ...node, signer: { ...signer, sign } }),
        }),
    },
  )
  t.after(() => server.close())
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 2) })
  const signedAt = async (): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${server.port}/registration`)
    assert.equal(response.headers.get('cache-control'), 'no-cache')
    return ((await response.json()) as RegistrationReport).statement.signed_at
  }
  assert.equal(await signedAt(), '2026-01-02T00:00:00.000Z')
  t.mock.timers.setTime(Date.UTC(2026, 0, 2, 0, 1))
  assert.equal(await signedAt(), '2026-01-02T00:00:00.000Z')
  t.mock.timers.setTime(Date.UTC(2026, 0, 2, 0, 1, 0, 1))
  assert.equal(await signedAt(), '2026-01-02T00:01:00.000Z')
  assert.equal(signatures, 2)
})

async function ask(
  t: TestContext,
  changed: Partial<Parameters<typeof registrationRoute>[1]> = {},
  open: RegisteringNode | null = node,
  query = '',
): Promise<{ status: number; report: RegistrationReport }> {
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, setting: 'none' },
    {
      log: captureLog().log,
      routes: (routes) =>
        registrationRoute(routes, { ...settings, ...changed }, { role: 'host', node: () => open }),
    },
  )
  t.after(() => server.close())
  const response = await fetch(`http://127.0.0.1:${server.port}/registration${query}`)
  return { status: response.status, report: (await response.json()) as RegistrationReport }
}

test('the message is bound to chain, role, account and time, and signed by the identity', async (t) => {
  const { status, report } = await ask(t)
  assert.equal(status, 200)
  assert.ok(isSigned(report))
  const message = Buffer.from(report.registration.message.slice(2), 'hex')
  const [tag, chainId, role, account, seconds] = dagCbor.decode<unknown[]>(message)
  assert.deepEqual(
    [tag, chainId, role, account],
    ['viewmesh/registration/1', 91_273_001, 'host', address],
  )
  const signed_at = new Date(Number(seconds) * 1e3).toISOString()
  assert.deepEqual(report.statement, { chain_id: 91_273_001, role: 'host', address, signed_at })
  const { connection_string, endpoint_address, source_chain, source_chain_id } = report.registration
  assert.deepEqual(
    [connection_string, endpoint_address, source_chain, source_chain_id],
    [
      '/ip4/10.0.0.2/tcp/9171/p2p/12D3KooWPeer',
      'https://host.example.org/api/v0/graphql',
      'ethereum',
      1,
    ],
  )
})

test('without P2P_ANNOUNCE a wildcard listener answers an address of the machine, not loopback', async (t) => {
  const own = createOwnAddresses(['/ip4/0.0.0.0/tcp/9171', '/ip6/::/tcp/9171'], [])
  const self = (): { id: string; addresses: string[] } => ({ id: 'Peer', addresses: own.list([]) })
  assert.match(self().addresses.join(), /127\.0\.0\.1/)
  const { report } = await ask(t, {}, { signer, self, announced: own.announced })
  assert.doesNotMatch(report.registration.connection_string, /\/127\.|\/::1\/|\/0\.0\.0\.0|\/fe80/)
  own.setAnnounced(['/dns4/node.example.org/tcp/30171'])
  const { report: announced } = await ask(t, {}, { signer, self, announced: own.announced })
  assert.equal(
    announced.registration.connection_string,
    '/dns4/node.example.org/tcp/30171/p2p/Peer',
  )
})

test('announced addresses come first, then public ones, then private ones, else there is none', async (t) => {
  const [announcedOne, outer, inner] = [
    '/ip4/10.9.9.9/tcp/1',
    '/ip4/203.0.113.7/tcp/1',
    '/ip6/fd00::7/tcp/1',
  ]
  const loopback = ['/ip4/127.0.0.1/tcp/1', '/ip6/::1/tcp/1', '/ip4/169.254.3.4/tcp/1']
  const cases = [
    [[announcedOne], [announcedOne, ...loopback, outer], `${announcedOne}/p2p/Peer`],
    [[], [...loopback, inner, outer], `${outer}/p2p/Peer`],
    [[], [...loopback, inner], `${inner}/p2p/Peer`],
    [[], loopback, ''],
  ] as const
  for (const [announced, addresses, expected] of cases) {
    const self = () => ({ id: 'Peer', addresses })
    const { report } = await ask(t, {}, { signer, self, announced: () => announced })
    assert.equal(report.registration.connection_string, expected)
  }
})

test('no request changes for whom is signed', async (t) => {
  const other = `0x${'22'.repeat(20)}`
  const { report } = await ask(t, {}, node, `?address=${other}&chain_id=1&role=generator`)
  assert.equal(report.statement.address, address)
  assert.ok(!Buffer.from(report.registration.message.slice(2), 'hex').includes(other))
})

test('without an account nothing is signed, nor before the node is open', async (t) => {
  for (const { status, report } of [
    await ask(t, { registrationAddress: null }),
    await ask(t, {}, null),
  ]) {
    assert.equal(status, 503)
    assert.equal(report.registration, undefined)
  }
  assert.deepEqual((await ask(t, { registrationAddress: null })).report, {
    error: 'service_unavailable',
    message:
      'REGISTRATION_ADDRESS is not set: it is the account that registers this node on the registry chain',
    remedy:
      'Set REGISTRATION_ADDRESS of the node to the account that registers it, and start it again.',
  })
  assert.deepEqual((await ask(t, { registrationAddress: null }, null)).report, {
    error: 'service_unavailable',
    message: 'the node is not open yet',
    remedy: 'Ask again when /health says healthy.',
  })
})

test('the constant message of older dashboards is signed only where it is set', async (t) => {
  const { report } = await ask(t, { registrationMessage: 'constant', registrationAddress: null })
  const message = Buffer.from(report.registration.message.slice(2), 'hex')
  assert.equal(message.toString(), 'Shinzo Network host registration')
  assert.ok(isSigned(report))
  assert.equal(report.statement.address, null)
  const { report: withAddress } = await ask(t, { registrationMessage: 'constant' })
  assert.deepEqual(withAddress.statement, {
    chain_id: 91_273_001,
    role: 'host',
    address: null,
    signed_at: null,
  })
  assert.equal(withAddress.registration.message, report.registration.message)
})

test('a chain of nobody in particular has no ID, and no endpoint is an empty text', async (t) => {
  const { report } = await ask(t, { chainName: 'Mine', registrationEndpoint: null })
  const { endpoint_address, source_chain, source_chain_id } = report.registration
  assert.deepEqual([endpoint_address, source_chain, source_chain_id], ['', 'mine', 0])
})
