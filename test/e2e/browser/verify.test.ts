/** `viewmesh/verify` in a real browser, module by module as a bundler would find it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { type AnsweredVerdict, verifyAnswer } from '../../../src/verify/verify.ts'
import { openTestApi } from '../../graphql/support/graphql-server.ts'
import { alice, bob, carol, documentOf } from '../../support/chain/answered-documents.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { wholeBlocks } from '../../support/proof-query.ts'
import { repository } from '../../support/repository.ts'
import { launchBrowser, visit } from './browser.ts'

const imports = {
  'viewmesh/verify': '/src/verify/verify.ts',
  '@noble/curves/': '/node_modules/@noble/curves/',
  '@noble/hashes/': '/node_modules/@noble/hashes/',
}
const page = `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${JSON.stringify({ imports })}</script>`

/** Serves the page and our modules with the types taken out. */
function serveModules(): Server {
  return createServer((request, response) => {
    const path = request.url ?? '/'
    if (path === '/') {
      response.setHeader('content-type', 'text/html').end(page)
    } else if (!/^\/(?:src|node_modules\/@noble)\/[\w/-]+\.[jt]s$/.test(path)) {
      response.writeHead(404).end()
    } else {
      const text = readFileSync(join(repository, path), 'utf8')
      const script = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text
      response.setHeader('content-type', 'text/javascript').end(script)
    }
  })
}

let browser: Browser
let server: Server
before(async () => {
  browser = await launchBrowser()
  server = serveModules()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
after(async () => {
  await browser.close()
  server.close()
})

test('a response of a Host is proven in a browser as it is in Node', async (t) => {
  const api = await openTestApi(t, { blocks: createChain({ count: 2 }) })
  const { body } = await api.ask(wholeBlocks('limit: 2'))
  const log = documentOf('log-')
  const seals = [{ ...log._proof.seals[1], identity: alice.identity }]
  const answer = [
    body,
    ...['block-', 'tx-', 'log-', 'entry-'].map((prefix) => documentOf(prefix)),
    { ...log, logIndex: 9 },
    { ...log, topics: undefined },
    { ...log, _proof: { ...log._proof, seals } },
    documentOf('log-', [carol]),
  ]
  const identities = [alice, bob, testSigner('generator')].map(({ identity }) => identity)
  const address = server.address() as AddressInfo
  const { page: tab, problems } = await visit(t, browser, `http://127.0.0.1:${address.port}/`)
  const input = JSON.stringify([answer, { identities }])
  const inBrowser = await tab.evaluate<readonly AnsweredVerdict[]>(
    `import('viewmesh/verify').then(({ verifyAnswer }) => verifyAnswer(...${input}))`,
  )
  assert.deepEqual(inBrowser, verifyAnswer(JSON.parse(JSON.stringify(answer)), { identities }))
  assert.equal(new Set(inBrowser.map(({ verdict }) => verdict.proves)).size, 3)
  assert.deepEqual(problems, [])
})
