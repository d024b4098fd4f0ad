import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { playgroundScript } from '../../../src/graphql/http/playground-script.ts'
import { defaultTabs } from '../../../src/graphql/http/playground-tabs.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { openEventReader } from '../support/event-reader.ts'
import { openTestApi, type TestApi } from '../support/graphql-server.ts'
import { servedView } from '../support/served-views.ts'

const chain = createChain({ count: 3 })
const open = (t: TestContext): Promise<TestApi> =>
  openTestApi(t, { blocks: chain.slice(0, 2), playground: true })

const filesOf = (page: string): string[] =>
  [...page.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path]) => path ?? '')

test('the page is called Viewmesh and loads nothing but its own origin', async (t) => {
  const api = await open(t)
  const response = await fetch(api.origin)
  const page = await response.text()
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(response.headers.get('cache-control'), 'no-cache')
  assert.equal(
    response.headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src data:; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  assert.match(page, /<title>Viewmesh<\/title>/)
  assert.doesNotMatch(page, /(?:src|href)="(?:https?:)?\/\//)
})

test('its files carry their version in the path and are cached for a year', async (t) => {
  const api = await open(t)
  const files = filesOf(await (await fetch(api.origin)).text())
  assert.deepEqual(
    files.map((path) => path.replace(/-[0-9a-f]{16}\.js$/, '-*.js')),
    [
      '/assets/graphiql-3.9.0/graphiql.min.css',
      '/assets/react-18.3.1/react.production.min.js',
      '/assets/react-dom-18.3.1/react-dom.production.min.js',
      '/assets/graphiql-3.9.0/graphiql.min.js',
      '/assets/playground-*.js',
    ],
  )
  for (const path of files) {
    const plain = await fetch(api.origin + path, { headers: { 'accept-encoding': 'identity' } })
    const packed = await fetch(api.origin + path, { headers: { 'accept-encoding': 'gzip, br' } })
    assert.equal(plain.status, 200, path)
    assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(plain.headers.get('x-content-type-options'), 'nosniff')
    const type = path.endsWith('.css') ? 'text/css' : 'text/javascript'
    assert.equal(plain.headers.get('content-type'), `${type}; charset=utf-8`)
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.equal(packed.headers.get('content-encoding'), 'gzip')
    assert.equal(await packed.text(), await plain.text())
  }
})

test('nothing else is served from the packages', async (t) => {
  const api = await open(t)
  for (const path of ['/assets/graphiql-3.9.0/package.json', '/assets/../package.json']) {
    const response = await fetch(api.origin + path)
    assert.equal(response.status, 404)
    await response.text()
  }
})

test('the endpoint is on the same origin, so a forwarded port is enough', async (t) => {
  const api = await open(t)
  assert.deepEqual(await api.ask('{ Block { number } }'), {
    status: 200,
    body: { data: { Block: [{ number: 1 }, { number: 2 }] } },
  })
})

test('a browser that opens the endpoint is redirected to the page', async (t) => {
  const api = await open(t)
  const headers = { accept: 'text/html,application/xhtml+xml' }
  const response = await fetch(api.url, { headers, redirect: 'manual' })
  assert.equal(response.status, 303)
  assert.equal(response.headers.get('location'), '/')
  const query = new URLSearchParams({ query: '{ __typename }' })
  const answer = await fetch(`${api.url}?${query}`, { headers })
  assert.deepEqual(await answer.json(), { data: { __typename: 'Query' } })
})

test('every tab of a first visit shows something', async (t) => {
  const api = await open(t)
  for (const { query } of defaultTabs) {
    if (query.includes('subscription')) continue
    const { body } = (await api.ask(query)) as { body: { data: Record<string, unknown[]> } }
    assert.ok(Object.values(body.data).every((rows) => rows.length > 0))
  }
  const following = defaultTabs.find(({ query }) => query.includes('subscription'))
  const reader = await openEventReader(api.url, { query: following?.query ?? '' })
  const [, , third] = chain
  if (third !== undefined) await api.add(third)
  assert.deepEqual(await reader.next(), {
    event: 'next',
    data: { data: { Block: [{ number: 3, hash: third?.hash, COUNT: 2 }] } },
  })
})

test('a View has a tab from the first visit after it came, and its query is valid', async (t) => {
  const api = await open(t)
  const tabsOf = async (): Promise<{ query: string }[]> => {
    const page = await (await fetch(api.origin)).text()
    const [, text = ''] = /data-view-tabs="([^"]*)"/.exec(page) ?? []
    return JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
  }
  assert.deepEqual(await tabsOf(), [])
  const views = ['A', 'B', 'C', 'D'].map((name) =>
    servedView(`type ${name} { from: String @index, more: JSON }`),
  )
  api.graphql.setViews(views)
  const tabs = await tabsOf()
  assert.equal(tabs.length, 3)
  for (const [index, { query }] of tabs.entries()) {
    assert.match(query, /_blockNumber\n {4}from\n {4}more\n/)
    const name = views[index]?.name ?? ''
    const answer = { status: 200, body: { data: { [name]: [] } } }
    assert.partialDeepStrictEqual(await api.ask(query), answer)
  }
})

test('the page’s script is plain JavaScript', () => {
  assert.doesNotThrow(() => new Function(playgroundScript()))
})
