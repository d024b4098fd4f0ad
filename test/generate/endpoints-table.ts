/**
 * Every HTTP route of Generator, Host and operator. A test compares the table with the routes that the
 * running programs declare.
 */
import { ports } from '../../src/service/contract.ts'
import { table } from './table.ts'

/** One route of one server of a program. */
export interface Endpoint {
  readonly program: 'Generator' | 'Host' | 'operator'
  readonly port: number
  /** Wherever GET is, HEAD is as well. */
  readonly methods: readonly string[]
  readonly path: string
  /** Who gets an answer. */
  readonly access: string
  readonly statuses: readonly number[]
  readonly what: string
}

type Route = Omit<Endpoint, 'program' | 'port'>

const open = 'anybody'
const health: Route = {
  methods: ['GET'],
  path: '/health',
  access: open,
  statuses: [200, 503],
  what: 'The health report, as JSON; 503 while the program starts or stops',
}
const service: readonly Route[] = [
  health,
  {
    methods: ['GET'],
    path: '/ready',
    access: open,
    statuses: [200, 503],
    what: 'Whether it should be asked for data, and why not, as JSON; 503 also while a Host has too few blocks or is too far behind',
  },
  {
    methods: ['GET'],
    path: '/metrics',
    access: open,
    statuses: [200],
    what: 'Metrics for Prometheus, or a few of them as JSON where `Accept` has `application/json`',
  },
  {
    methods: ['GET'],
    path: '/registration',
    access: open,
    statuses: [200, 503],
    what: 'What registers this node on the [registry chain](../registry.md#registering-a-node), signed for `REGISTRATION_ADDRESS`; 503 without that, and until the node is open',
  },
  {
    methods: ['GET'],
    path: '/',
    access: open,
    statuses: [200],
    what: 'Name, version and the routes of this port',
  },
]
const key = 'a key of `SCHEMA_API_KEYS`, as `Authorization: Bearer` or `X-Api-Key`'
const schema: readonly Route[] = [
  {
    methods: ['GET'],
    path: '/api/v1/schema',
    access: key,
    statuses: [200, 401, 403, 503],
    what: 'The schema of all collections, as SDL in JSON; 503 where no keys are set',
  },
  {
    methods: ['GET'],
    path: '/api/v1/schema/collections',
    access: key,
    statuses: [200, 401, 403, 503],
    what: 'Names of the collections and of their types',
  },
  {
    methods: ['GET'],
    path: '/api/v1/schema/:collection',
    access: key,
    statuses: [200, 401, 403, 404, 503],
    what: 'The schema of one collection; 404 where there is none of that name',
  },
]
const graphqlPath = '/api/v0/graphql'
const graphql: readonly Route[] = [
  {
    methods: ['GET', 'POST'],
    path: graphqlPath,
    access: open,
    statuses: [200, 400, 413, 503],
    what: 'Queries, and subscriptions as server-sent events. Errors in a query come with 200; 400 is a request without a query, 413 too large a body, 503 (`Retry-After`) too much at once',
  },
  {
    methods: ['OPTIONS'],
    path: graphqlPath,
    access: open,
    statuses: [204],
    what: 'CORS preflight: any page may ask',
  },
  {
    methods: ['PUT', 'PATCH', 'DELETE'],
    path: graphqlPath,
    access: open,
    statuses: [405],
    what: 'Not accepted',
  },
  {
    methods: ['GET'],
    path: '/health-check',
    access: open,
    statuses: [200],
    what: 'The JSON text `"Healthy"` while the server listens',
  },
]
const admin = '`HOST_ADMIN_TOKEN`, as `Authorization: Bearer` or `X-Api-Key`'
const viewPath = '/api/v0/views'
const views: readonly Route[] = [
  {
    methods: ['GET'],
    path: viewPath,
    access: open,
    statuses: [200],
    what: 'The [Views](../views.md) of this Host, and how each stands',
  },
  {
    methods: ['POST'],
    path: viewPath,
    access: admin,
    statuses: [200, 201, 400, 401, 403, 409, 413, 415, 503],
    what: 'Serves a View from now on: 201, or 200 where it is here already; 409 where there are `MAX_VIEWS`, 503 without a token set, or where it takes too long to check',
  },
  {
    methods: ['GET'],
    path: `${viewPath}/:id`,
    access: open,
    statuses: [200, 404],
    what: 'One View with its definition, by either ID',
  },
  {
    methods: ['POST'],
    path: `${viewPath}/:id/retry`,
    access: admin,
    statuses: [204, 401, 403, 404, 503],
    what: 'Tries blocks of a View that failed again, and ends its quarantine',
  },
  {
    methods: ['DELETE'],
    path: `${viewPath}/:id`,
    access: admin,
    statuses: [204, 401, 403, 404, 409, 503],
    what: 'Ends a View and removes its rows; 409 for one of the [registry chain](../registry.md)',
  },
]
const page: readonly Route[] = [
  {
    methods: ['GET'],
    path: '/',
    access: open,
    statuses: [200],
    what: 'The playground. A browser that opens `/api/v0/graphql` of this port without a query is sent here (303)',
  },
  {
    methods: ['GET'],
    path: '/assets/*',
    access: open,
    statuses: [200],
    what: 'Its scripts and styles',
  },
]
const probe = (path: string, what: string): Route => ({
  methods: ['GET'],
  path,
  access: open,
  statuses: [200, 503],
  what,
})

function serve(program: Endpoint['program'], port: number, routes: readonly Route[]): Endpoint[] {
  return routes.map((route) => ({ program, port, ...route }))
}

/** Ports of the operator, by default. */
const operatorPorts = { health: 8080, metrics: 8081 } as const

/** All routes, server by server. */
export const endpoints: readonly Endpoint[] = [
  ...serve('Generator', ports.health, [...service, ...schema]),
  ...serve('Generator', ports.publicHealth, [health]),
  ...serve('Generator', ports.api, graphql),
  ...serve('Host', ports.health, service),
  ...serve('Host', ports.publicHealth, [health]),
  ...serve('Host', ports.api, [...graphql, ...views]),
  ...serve('Host', ports.playground, [...graphql, ...page]),
  ...serve('operator', operatorPorts.health, [
    probe('/healthz', 'Whether the process lives; text, a line for each check'),
    probe('/readyz', 'Whether everything that is watched was read'),
  ]),
  ...serve('operator', operatorPorts.metrics, [
    {
      methods: ['GET'],
      path: '/metrics',
      access: open,
      statuses: [200],
      what: 'Metrics for Prometheus',
    },
  ]),
]

/** One line for each route of a server. */
export function endpointsTable(): string {
  const rows = endpoints.map(({ program, port, methods, path, access, statuses, what }) => [
    program,
    `${port}`,
    methods.join(' '),
    `\`${path}\``,
    access,
    statuses.join(' '),
    what,
  ])
  return table(['Program', 'Port', 'Methods', 'Path', 'Who may', 'Status', 'What'], rows)
}
