import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultMaxBodyBytes } from '../../src/graphql/http/route.ts'
import { maxViewBody } from '../../src/host/views/view-request.ts'
import { noSender, viewIDs } from '../../src/views/view-id.ts'
import { encodeView } from '../../src/views/wire.ts'
import { metricsOf } from '../generate/declared-metrics.ts'
import { type Endpoint, endpoints } from '../generate/endpoints-table.ts'
import {
  type Server,
  serversOfGenerator,
  serversOfHost,
  serversOfOperator,
} from './support/running-programs.ts'

const programs = [
  { name: 'Generator', metrics: 'generator', serversOf: serversOfGenerator },
  { name: 'Host', metrics: 'host', serversOf: serversOfHost },
  { name: 'operator', metrics: 'operator', serversOf: serversOfOperator },
] as const

/** What the operator declares once it has found a cluster. */
const withCluster: readonly string[] = [
  'viewmesh_operator_resources',
  'viewmesh_operator_unread_kinds',
]

/** Files of the playground have their version in their path. */
const tabled = (route: string): string => route.replace(/\/assets\/.*/, '/assets/*')

/** The routes of the table, a list for each server. */
function listed(program: string): Endpoint[][] {
  const own = endpoints.filter((endpoint) => endpoint.program === program)
  return Object.values(Object.groupBy(own, ({ port }) => port)).map((group) => group ?? [])
}

const routesOf = (group: readonly Endpoint[]): string[] =>
  group.flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`)).toSorted()

const sorted = (groups: readonly (readonly string[])[]): string[] =>
  groups.map((routes) => [...new Set(routes)].toSorted().join('\n')).toSorted()

for (const { name, metrics, serversOf } of programs) {
  test(`a running ${name} has the routes and metrics of the reference`, async (t) => {
    const servers = await serversOf(t)

    await t.test('endpoints.md lists every route that is declared, and no other', () => {
      assert.deepEqual(
        sorted(servers.map(({ routes }) => routes.map(tabled))),
        sorted(listed(name).map(routesOf)),
      )
    })

    await t.test('each route returns the statuses that endpoints.md lists', async () => {
      for (const server of servers) await tryRoutes(name, server)
    })

    await t.test('metrics.md lists every metric that is served, and no other', async () => {
      const due = metricsOf(metrics).map((metric) => metric.name)
      assert.deepEqual(
        await servedMetrics(servers),
        due.filter((metric) => !withCluster.includes(metric)),
      )
    })
  })
}

/** A request to a path, with what decides on its status. */
interface Trial {
  readonly url: string
  readonly init?: RequestInit
}

/** Requests that bring each status which a route has while its program runs. */
function trialsOf(method: string, path: string): Trial[] {
  const example = path.replace(':collection', 'block')
  if (path.startsWith('/api/v1/schema')) {
    const headers = { 'x-api-key': 'key' }
    const unknown = { url: '/api/v1/schema/nothing', init: { headers } }
    return [
      { url: example },
      { url: example, init: { headers: { 'x-api-key': 'another' } } },
      { url: example, init: { headers } },
      ...(path === example ? [] : [unknown]),
    ]
  }
  if (path.startsWith('/api/v0/views')) return viewTrials(method, path)
  if (method === 'POST') {
    const bodies = ['', '{"query":"{ __typename }"}', ' '.repeat(defaultMaxBodyBytes + 1)]
    return bodies.map((body) => ({ url: example, init: { method, body } }))
  }
  return [{ url: example, init: { method } }]
}

const view = { query: 'Log { address }', sdl: 'type Seen { address: String }' }
const viewID = viewIDs(noSender, encodeView({ ...view, lenses: [] })).id

/** Posts a View before anything is asked of it, and deletes it last: the table has the routes in this order. */
function viewTrials(method: string, path: string): Trial[] {
  const url = path.replace(':id', viewID)
  const admin = { 'x-api-key': 'key' }
  const unknown = { url: path.replace(':id', '0x12'), init: { method, headers: admin } }
  if (method === 'GET') return path === url ? [{ url }] : [{ url }, { ...unknown, init: {} }]
  const refused = [{}, { 'x-api-key': 'another' }].map((headers) => ({
    url,
    init: { method, headers },
  }))
  if (path !== url) return [...refused, unknown, { url, init: { method, headers: admin } }]
  const json = { ...admin, 'content-type': 'application/json' }
  const post = (body: string, headers: Record<string, string> = json): Trial => ({
    url,
    init: { method, headers, body },
  })
  return [
    ...refused,
    ...[post(JSON.stringify(view)), post(JSON.stringify(view))],
    post(JSON.stringify({ ...view, sdl: 'type Other { address: String }' })),
    ...[
      post('{'),
      post(' '.repeat(maxViewBody + 1)),
      post('', { ...admin, 'content-type': 'text/x' }),
    ],
  ]
}

/** What is not ready here, and returns 503: the operator has no cluster, and the Host has no blocks. */
const unready = ['operator /readyz', 'Host /ready']

/** Statuses that need a registry chain; test/host/registry/registered-views.test.ts asks for them. */
const withRegistry = ['DELETE /api/v0/views/:id 409']

/** Tries each route; together its statuses have to be those of the table, but for 503 of what is ready here. */
async function tryRoutes(program: string, server: Server): Promise<void> {
  const own = sorted([server.routes.map(tabled)])[0]
  const group = listed(program).find((one) => sorted([routesOf(one)])[0] === own) ?? []
  for (const endpoint of group) {
    const routes = server.routes.filter((one) => routesOf([endpoint]).includes(tabled(one)))
    const statuses: number[] = []
    for (const route of routes) {
      const [method = '', path = ''] = route.split(' ')
      for (const { url, init } of trialsOf(method, path))
        statuses.push((await fetch(server.url + url, init)).status)
    }
    const isUnready = unready.includes(`${program} ${endpoint.path}`)
    const expected = isUnready ? [503] : endpoint.statuses
    const due = expected
      .filter((status) => status !== 503 || expected.length === 1)
      .filter((status) => routes.every((route) => !withRegistry.includes(`${route} ${status}`)))
    assert.deepEqual([...new Set(statuses)].toSorted(), due, endpoint.path)
  }
}

async function servedMetrics(servers: readonly Server[]): Promise<string[]> {
  const server = servers.find(({ routes }) => routes.includes('GET /metrics'))
  const text = await (await fetch(`${server?.url}/metrics`)).text()
  return [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name).toSorted()
}
