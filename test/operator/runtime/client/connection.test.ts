import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import {
  type ConnectionOptions,
  openConnection,
} from '../../../../operator/runtime/client/connection.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'viewmesh-connection-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function inPod(): ConnectionOptions {
  writeFileSync(join(folder, 'token'), 'first\n')
  writeFileSync(join(folder, 'ca.crt'), 'a certificate')
  writeFileSync(join(folder, 'namespace'), 'apps')
  const serviceAccount = folder
  return { kubeconfig: null, serviceHost: '10.96.0.1', servicePort: '443', serviceAccount }
}

test('in a pod the service account is used, and its token is read again when refused', async () => {
  const connection = await openConnection(inPod())
  assert.equal(connection.server, 'https://10.96.0.1:443')
  assert.equal(connection.namespace, 'apps')
  assert.deepEqual(connection.tls, { ca: Buffer.from('a certificate') })
  assert.equal(await connection.authorization(), 'Bearer first')
  writeFileSync(join(folder, 'token'), 'second')
  assert.equal(await connection.authorization(), 'Bearer first')
  connection.forgetAuthorization()
  assert.equal(await connection.authorization(), 'Bearer second')
})

test('a token is read again after a minute, since Kubernetes renews it', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const connection = await openConnection(inPod())
  const tokens = [await connection.authorization()]
  writeFileSync(join(folder, 'token'), 'second')
  for (nowMs of [60_000, 60_001]) tokens.push(await connection.authorization())
  assert.deepEqual(tokens, ['Bearer first', 'Bearer first', 'Bearer second'])
})

test('a token that could not be read is read again by the next request', async () => {
  const connection = await openConnection(inPod())
  rmSync(join(folder, 'token'))
  await assert.rejects(connection.authorization(), { code: 'ENOENT' })
  writeFileSync(join(folder, 'token'), 'back')
  assert.equal(await connection.authorization(), 'Bearer back')
})

test('an IPv6 address of the API server is written as URLs want it', async () => {
  const { server } = await openConnection({ ...inPod(), serviceHost: 'fd00::1' })
  assert.equal(server, 'https://[fd00::1]:443')
})

test('a pod that is given no port and no namespace has those of Kubernetes', async () => {
  const options = inPod()
  rmSync(join(folder, 'namespace'))
  const { server, namespace } = await openConnection({ ...options, servicePort: null })
  assert.deepEqual([server, namespace], ['https://10.96.0.1:443', 'default'])
  writeFileSync(join(folder, 'namespace'), 'apps\n')
  assert.equal((await openConnection(options)).namespace, 'apps')
})

test('a certificate of a kubeconfig speaks for the user, and the server is checked as it says', async () => {
  const kubeconfig = join(folder, 'config')
  const encoded = (text: string): string => Buffer.from(text).toString('base64')
  const cluster = {
    server: 'https://example.org:6443',
    'certificate-authority-data': encoded('an authority'),
    'tls-server-name': 'kubernetes',
    'insecure-skip-tls-verify': true,
  }
  const user = {
    'client-certificate-data': encoded('a certificate'),
    'client-key-data': encoded('a key'),
  }
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(kubeconfig, JSON.stringify(config))
  const { tls, namespace, authorization } = await openConnection({ ...inPod(), kubeconfig })
  assert.deepEqual(tls, {
    ca: Buffer.from('an authority'),
    cert: Buffer.from('a certificate'),
    key: Buffer.from('a key'),
    servername: 'kubernetes',
    rejectUnauthorized: false,
  })
  assert.deepEqual([namespace, await authorization()], ['default', null])
})

test('a kubeconfig goes before the service account', async () => {
  const kubeconfig = join(folder, 'config')
  const cluster = { name: 'c', cluster: { server: 'https://example.org:6443' } }
  const user = { name: 'u', user: { token: 'from-the-file' } }
  const context = { name: 'x', context: { cluster: 'c', user: 'u', namespace: 'mine' } }
  const config = { clusters: [cluster], users: [user], contexts: [context], 'current-context': 'x' }
  writeFileSync(kubeconfig, JSON.stringify(config))
  const connection = await openConnection({ ...inPod(), kubeconfig })
  assert.equal(connection.server, 'https://example.org:6443')
  assert.equal(connection.namespace, 'mine')
  assert.equal(await connection.authorization(), 'Bearer from-the-file')
})

test('without a cluster to connect to the error says what to set', async () => {
  const nowhere = { kubeconfig: null, serviceHost: null, servicePort: null, serviceAccount: folder }
  for (const options of [
    nowhere,
    { ...inPod(), serviceHost: null },
    { ...nowhere, serviceHost: 'x', serviceAccount: join(folder, 'none') },
  ])
    await assert.rejects(openConnection(options), { code: 'OPERATOR_CONNECTION_MISSING' })
  await assert.rejects(openConnection(nowhere), {
    code: 'OPERATOR_CONNECTION_MISSING',
    remedy: 'Run the operator in a pod with a service account, or set KUBECONFIG.',
  })
  const kubeconfig = join(folder, 'absent')
  await assert.rejects(openConnection({ ...nowhere, kubeconfig }), {
    code: 'OPERATOR_CONNECTION_MISSING',
    message: `${kubeconfig} names no cluster`,
  })
})
