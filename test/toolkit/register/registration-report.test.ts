/** What is taken for the registration of a node, and what is not. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { encodeRegistration } from '../../../src/identity/registration-message.ts'
import { createSigner } from '../../../src/identity/signature.ts'
import { openHttpServer } from '../../../src/service/health/http-server.ts'
import {
  type RegistrationReport,
  registrationRoute,
} from '../../../src/service/health/registration-route.ts'
import { askRegistration } from '../../../src/toolkit/register/registration-report.ts'
import { captureLog } from '../../support/captured-log.ts'

const { signal } = new AbortController()
const unreachable = { code: 'TOOLKIT_NODE_UNREACHABLE' }

const signer = createSigner({ type: 'ES256K', privateKey: new Uint8Array(32).fill(7) })

/** What a node answers that signs for an account, or for whoever asks. */
async function reportOf(
  t: TestContext,
  account: string | null,
  role: 'host' | 'generator' = 'host',
  chainId = 7,
): Promise<RegistrationReport> {
  const settings = {
    ...{ registrationAddress: account, registrationChainId: chainId, chainName: 'Local' },
    ...{ registrationEndpoint: 'https://host.example.org', chainNetwork: 'Devnet' },
    registrationMessage: account === null ? 'constant' : 'bound',
  } as const
  const self = () => ({ id: '12D3KooWPeer', addresses: [] })
  const node = () => ({ signer, self, announced: () => ['/ip4/203.0.113.7/tcp/9171'] })
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, setting: 'none' },
    {
      log: captureLog().log,
      routes: (routes) => registrationRoute(routes, settings, { role, node }),
    },
  )
  t.after(() => server.close())
  const answer = await fetch(`http://127.0.0.1:${server.port}/registration`)
  return (await answer.json()) as RegistrationReport
}

/** A node that answers so at `/registration`, and 404 elsewhere. */
async function openNode(t: TestContext, status: number, text: string): Promise<string> {
  const server = createServer(({ url }, response) => {
    if (url === '/registration') response.writeHead(status, { location: '/elsewhere' }).end(text)
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a report is taken of the node at its base URL, however that ends, up to 64 KiB', async (t) => {
  for (const [account, role, chainId] of [
    [`0x${'aB'.repeat(20)}`, 'host', 7],
    [null, 'generator', 1],
  ] as const) {
    const report = await reportOf(t, account, role, chainId)
    const text = JSON.stringify(report)
    const node = await openNode(t, 200, text.padEnd(64 * 1024))
    for (const url of [node, `${node}/`, `${node}//`])
      assert.deepEqual(await askRegistration(url, signal), report)
    const larger = await openNode(t, 200, text.padEnd(64 * 1024 + 1))
    await assert.rejects(askRegistration(larger, signal), unreachable)
  }
})

test('an answer that is no report, or has another status, is that of no node', async (t) => {
  const report = await reportOf(t, `0x${'11'.repeat(20)}`)
  const { registration, statement } = report
  const keys = registration.defra_pk_registration
  const changed = (change: object) => ({ registration: { ...registration, ...change }, statement })
  const keyed = (change: object) => changed({ defra_pk_registration: { ...keys, ...change } })
  const stated = (change: object) => ({ registration, statement: { ...statement, ...change } })
  const answers: readonly (readonly [status: number, body: unknown])[] = [
    ...[201, 299].map((status) => [status, {}] as const),
    ...[301, 400, 404, 500].map((status) => [status, report] as const),
    ...[null, [], 'x', { registration }, { statement }].map((body) => [200, body] as const),
    ...['', '0x', '0xa', '0xAB', 'ab', '0xab\n', 7, null].flatMap((bytes) => [
      [200, changed({ message: bytes })] as const,
      [200, keyed({ public_key: bytes })] as const,
      [200, keyed({ signed_pk_message: bytes })] as const,
    ]),
    ...['did', 'connection_string', 'endpoint_address'].map(
      (name) => [200, changed({ [name]: null })] as const,
    ),
    ...[{ role: 'other' }, { chain_id: 0 }, { chain_id: 1.5 }, { chain_id: '7' }].map(
      (change) => [200, stated(change)] as const,
    ),
  ]
  for (const [status, body] of answers) {
    const node = await openNode(t, status, JSON.stringify(body))
    const message = `there is no node at ${new URL(node).host}`
    await assert.rejects(
      askRegistration(node, signal),
      { ...unreachable, message },
      `${status} ${JSON.stringify(body)}`,
    )
  }
  const noJson = await openNode(t, 200, '<html>')
  await assert.rejects(askRegistration(noJson, signal), unreachable)
})

test('a statement whose time is none proves nothing', async (t) => {
  const { registration, statement } = await reportOf(t, `0x${'11'.repeat(20)}`)
  for (const signed_at of [null, '', 'now', '1969-12-31T23:59:59Z', '2026-01-01T00:00:00.500Z']) {
    const report = { registration, statement: { ...statement, signed_at } }
    const node = await openNode(t, 200, JSON.stringify(report))
    await assert.rejects(askRegistration(node, signal), {
      code: 'TOOLKIT_NODE_UNPROVEN',
      message: 'what the node answers proves nothing: its message is not the one of its statement',
    })
  }
})

test('a statement that no node makes proves nothing, though it is signed', async (t) => {
  const account = `0x${'11'.repeat(20)}`
  const { registration, statement } = await reportOf(t, account)
  const ask = async (address: string, signed_at: string): Promise<RegistrationReport> => {
    const seconds = Date.parse(signed_at) / 1_000
    const message = encodeRegistration({ chainId: 7, role: 'host', address, seconds })
    const keys = {
      ...registration.defra_pk_registration,
      signed_pk_message: `0x${signer.sign(message)}`,
    }
    const signed = {
      ...{ ...registration, message: `0x${Buffer.from(message).toString('hex')}` },
      defra_pk_registration: keys,
    }
    const report = { registration: signed, statement: { ...statement, address, signed_at } }
    return await askRegistration(await openNode(t, 200, JSON.stringify(report)), signal)
  }
  const first = '1970-01-01T00:00:00.000Z'
  assert.equal((await ask(account, first)).statement.signed_at, first)
  for (const [address, signedAt] of [
    [account.slice(0, -1), first],
    [account, '1969-12-31T23:59:59.000Z'],
    [account, '2026-01-01T00:00:00.500Z'],
  ] as const)
    await assert.rejects(ask(address, signedAt), { code: 'TOOLKIT_NODE_UNPROVEN' })
})

test('why a node does not sign, and what to do, are on lines of three hundred characters', async (t) => {
  const elsewhere = 'Give the health port of a running Generator or Host to --node.'
  const long = 'x'.repeat(301)
  const cases = [
    [JSON.stringify({ message: 'no\n\u001b[2Jaccount' }), 'no account', elsewhere],
    [JSON.stringify({ message: 'no', remedy: 'Set\n\u001b[2Jit.' }), 'no', 'Set it.'],
    [JSON.stringify({ message: long, remedy: long }), 'x'.repeat(300), 'x'.repeat(300)],
    ['{"message":7,"remedy":8}', '{"message":7,"remedy":8}', elsewhere],
    ['null', 'null', elsewhere],
    ['away', 'away', elsewhere],
  ] as const
  for (const [text, reason, remedy] of cases)
    await assert.rejects(askRegistration(await openNode(t, 503, text), signal), {
      code: 'TOOLKIT_NODE_REFUSED',
      message: `the node does not sign a registration: ${reason}`,
      remedy,
    })
})

test('whoever ends the command gets no answer, and no word of a node that is missing', async (t) => {
  const node = await openNode(t, 200, '{}')
  const reason = new Error('enough')
  await assert.rejects(askRegistration(node, AbortSignal.abort(reason)), reason)
})
