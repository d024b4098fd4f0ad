import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { viewLimits } from '../../../src/views/view.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const wasm = await readFile(new URL('../../../src/lenses/filter.wasm', import.meta.url))
const hash = createHash('sha256').update(wasm).digest('hex')

/** A server and a project with a View; `add` adds the lens at a path of the server. */
async function openServed(context: TestContext, listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const terminal = await openTestTerminal(context)
  await terminal.json('view', 'init', 'Things')
  const flags = ['--name', 'Things', '--label', 'a', '--json']
  const addTo = (options: { readonly isTTY?: boolean }, url: string, ...more: string[]) =>
    terminal.run(['view', 'add', 'lens', ...flags, '--url', url, ...more], options)
  return { base, addTo, add: (url: string, ...more: string[]) => addTo({}, url, ...more) }
}

test('a lens is downloaded, its redirects and its hash are shown on standard error', async (context) => {
  const { base, add } = await openServed(context, ({ url }, response) => {
    if (url === '/lens.wasm') response.end(wasm)
    else response.writeHead(302, { location: '/lens.wasm' }).end()
  })
  const { exitCode, stdout, stderr } = await add(`${base}/latest`)
  assert.equal(exitCode, 0)
  assert.equal(JSON.parse(stdout).lenses[0].bytes, wasm.length)
  assert.equal(stderr, `redirected to ${base}/lens.wasm\nsha256 ${hash} (give it with --sha256)\n`)
})

test('every status from 300 to 399 redirects, one below or above it does not', async (context) => {
  const { base, add } = await openServed(context, ({ url }, response) => {
    const status = Number(url?.slice(1))
    const location = status === 300 ? '/399' : '/lens.wasm'
    if (url === '/lens.wasm') response.end(wasm)
    else response.writeHead(status, { location }).end()
  })
  const { exitCode, stderr } = await add(`${base}/300`)
  assert.equal(exitCode, 0)
  assert.match(stderr, /^redirected to .*\/399\nredirected to .*\/lens\.wasm\nsha256 /)
  for (const status of [299, 400]) {
    const refused = await add(`${base}/${status}`)
    assert.equal(refused.exitCode, 1)
    assert.match(refused.stderr, new RegExp(`/${status} returned the status ${status}\n`))
  }
})

test('a lens with another hash than --sha256 is refused, one with that hash is taken', async (context) => {
  const { base, add } = await openServed(context, (_request, response) => response.end(wasm))
  const other = await add(`${base}/a`, '--sha256', '0'.repeat(64))
  assert.equal(other.exitCode, 1)
  assert.match(other.stderr, new RegExp(`has the SHA-256 ${hash}, not 0{64}\n`))
  assert.equal((await add(`${base}/a`, '--sha256', 'abc')).exitCode, 2)
  const same = await add(`${base}/a`, '--sha256', hash.toUpperCase())
  assert.deepEqual([same.exitCode, same.stderr], [0, ''])
})

test('a download ends at the size that no lens may have', async (context) => {
  const chunk = Buffer.alloc(1024 * 1024)
  const { base, add } = await openServed(context, (_request, response) => {
    const more = (): void => {
      if (!response.destroyed) response.write(chunk, () => setImmediate(more))
    }
    more()
  })
  const { exitCode, stderr } = await add(`${base}/endless`)
  assert.equal(exitCode, 1)
  assert.match(stderr, new RegExp(`is larger than ${viewLimits.blob} bytes, which no lens may be`))
})

for (const url of ['file:///etc/passwd', 'ftp://a/b', 'data:,x', 'lens.wasm', '//a', ''])
  test(`--url ${JSON.stringify(url)} is refused as wrong usage`, async (context) => {
    const { add } = await openServed(context, (_request, response) => response.end())
    const { exitCode, stderr } = await add(url)
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error: --url takes no /)
  })

test('--url takes neither a user nor a password, which others would see', async (context) => {
  const { base, add } = await openServed(context, (_request, response) => response.end(wasm))
  for (const login of ['user@', ':word@', 'user:word@']) {
    const { exitCode, stderr } = await add(base.replace('//', `//${login}`))
    assert.deepEqual([exitCode, stderr.split('\n')[0]], [2, 'error: --url takes no password'])
  }
})

test('a person sees how much of a lens is there, and that line is cleared before the rest', async (context) => {
  const { base, addTo } = await openServed(context, (_request, response) => response.end(wasm))
  const { stderr } = await addTo({ isTTY: true }, `${base}/a`, '--sha256', hash)
  const line = '\r\u001b[2K'
  assert.equal(stderr, `${line}${wasm.length} bytes${line}`)
})

test('of an address that is none, here or in a redirect, two hundred characters are shown', async (context) => {
  const long = `gopher://${'a'.repeat(300)}`
  const { base, add } = await openServed(context, (_request, response) =>
    response.writeHead(302, { location: long }).end(),
  )
  const shown = long.slice(0, 200)
  const lineOf = async (url: string) => (await add(url)).stderr.split('\n')[0]
  assert.equal(await lineOf(long), `error: --url takes no "${shown}"`)
  assert.equal(await lineOf(`${base}/a`), `error: ${base}/a redirects to ${shown}`)
})

test('a redirect that leads nowhere is refused with its status', async (context) => {
  const { base, add } = await openServed(context, (_request, response) =>
    response.writeHead(304).end(),
  )
  const { exitCode, stderr } = await add(`${base}/a`)
  assert.equal(exitCode, 1)
  assert.match(stderr, new RegExp(`^error: ${base}/a returned the status 304\n`))
})

for (const location of [
  ...['file:///etc/passwd', 'gopher://a', 'http://[', 'http://user:word@127.0.0.1/'],
  ...['http://user@127.0.0.1/', 'http://:word@127.0.0.1/'],
])
  test(`a redirect to ${location} is refused`, async (context) => {
    const { base, add } = await openServed(context, (_request, response) =>
      response.writeHead(302, { location }).end(),
    )
    const { exitCode, stderr } = await add(`${base}/a`)
    assert.equal(exitCode, 1)
    assert.match(stderr, /^error: .* redirects to /)
  })

test('a redirect from http to https is followed', async (context) => {
  const { base, add } = await openServed(context, (_request, response) =>
    response.writeHead(302, { location: 'https://127.0.0.1:1/lens.wasm' }).end(),
  )
  const { exitCode, stderr } = await add(`${base}/a`)
  assert.equal(exitCode, 3)
  assert.match(stderr, /^redirected to (https:\S+)\nerror: \1 could not be read\n/)
})

test('a redirect from https to http is refused, as anybody could change what comes then', async (context) => {
  const { base, add } = await openServed(context, (_request, response) => response.end(wasm))
  const pem = makeCertificate('IP:127.0.0.1')
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))])
  context.after(() => setDefaultCACertificates(trusted))
  const secure = createSecureServer({ key: pem, cert: pem }, ({ url }, response) => {
    if (url === '/lens.wasm') response.end(wasm)
    else response.writeHead(302, { location: url === '/a' ? `${base}/a` : '/lens.wasm' }).end()
  })
  await once(secure.listen(0, '127.0.0.1'), 'listening')
  context.after(() => {
    secure.closeAllConnections()
    secure.close()
  })
  const origin = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`
  const { exitCode, stderr } = await add(`${origin}/a`)
  assert.deepEqual(
    [exitCode, stderr.split('\n')[0]],
    [1, `error: ${origin}/a redirects to ${base}/a`],
  )
  assert.equal((await add(`${origin}/b`)).exitCode, 0)
})

test('five redirects are followed, and no more', async (context) => {
  const { base, add } = await openServed(context, ({ url = '' }, response) => {
    const left = Number(url.slice(1))
    if (left === 0) response.end(wasm)
    else response.writeHead(302, { location: `/${left - 1}` }).end()
  })
  assert.equal((await add(`${base}/5`)).exitCode, 0)
  const { exitCode, stderr } = await add(`${base}/6`)
  assert.equal(exitCode, 1)
  assert.match(stderr, /redirects more than 5 times/)
})

test('a server that is not there ends with 3, one without the file with 1', async (context) => {
  const { base, add } = await openServed(context, (_request, response) =>
    response.writeHead(404).end(),
  )
  const missing = await add(`${base}/a`)
  assert.deepEqual([missing.exitCode, /returned the status 404/.test(missing.stderr)], [1, true])
  assert.equal((await add('http://127.0.0.1:1/a')).exitCode, 3)
})

test('a download that breaks off ends with 3, as it may be tried again', async (context) => {
  const { base, add } = await openServed(context, (_request, response) => {
    response.writeHead(200, { 'content-length': wasm.length })
    response.write(wasm.subarray(0, 9), () => response.destroy())
  })
  const { exitCode, stderr } = await add(`${base}/a`)
  assert.deepEqual([exitCode, stderr.split('\n')[0]], [3, `error: ${base}/a could not be read`])
})
