/** The floors of the project: which room may import from which. */

/**
 * Rooms that stand on each other, the lowest first; those of one array stand side by side, and neither
 * imports the other. A room is a folder or a file without its ending; `.` stands for all other files.
 */
export type Floors = readonly (string | readonly string[])[]

/** The rooms of `src`. On the ground floor each room may also import those named before it. */
export const sourceFloors: Floors = [
  'errors',
  'plain-error',
  'basic-authorization',
  'bearer-authorization',
  'bracket-depth',
  'did-you-mean',
  'directory-permission',
  'json-object',
  'json-parts',
  'one-line',
  'read-bounded',
  'remember',
  'scraped-gauge',
  'share-of-time',
  'primitives',
  ['verify', 'views'],
  ['row-votes', 'follow'],
  ['chain', 'store', 'identity', 'p2p', 'lens', 'registry', 'reaper'],
  ['graphql', 'mesh', 'service'],
  'compute',
  ['generator', 'host', 'toolkit', 'devnet', 'app'],
  'main',
]

/** The rooms without I/O, clock and chance. */
export const ground: readonly string[] = [
  'errors',
  'plain-error',
  'basic-authorization',
  'bearer-authorization',
  'bracket-depth',
  'did-you-mean',
  'json-object',
  'json-parts',
  'one-line',
  'remember',
  'scraped-gauge',
  'primitives',
  'verify',
  'views',
  'row-votes',
  'follow',
]

/** The rooms inside rooms. */
export const innerFloors: Readonly<Record<string, Floors>> = {
  'src/primitives': ['.', 'body', ['index-terms', 'sealed-block'], 'vote-exchange'],
  'src/views': [['names', 'source-text'], 'rows', '.'],
  'src/views/rows': ['row-limits', 'row-type', 'row-values', 'row-codec', 'plain', '.'],
  'src/store': ['needed-terms', 'store', 'json-record', 'disk', 'index', 'read', 'write'],
  'src/graphql': [
    'budget',
    'rows',
    'catalog',
    'schema',
    ['plan', 'filter'],
    'scan',
    'execute',
    'selection',
    '.',
    'http',
  ],
  'src/lens': ['.', ['program', 'child'], 'process'],
  'src/registry': ['precompile', '.'],
  'src/service': ['.', 'settings', 'threads', 'health', 'preflight', 'failure-log', 'run'],
  'src/generator': ['head', 'read', 'ingest', 'schema', '.'],
  'src/host': [
    ['network', 'other-view'],
    'fork-choice',
    'apply',
    'trust',
    'metrics',
    'sync',
    'schema',
    'streams',
    'views',
    ['folder', 'registry', 'row-votes'],
    'follow',
    '.',
  ],
  'src/host/views': ['hosted-view', 'engine', '.'],
  'src/host/views/engine': ['view-engine', 'view-record', 'failures', '.'],
  'src/app': ['contract', ['options', 'accepted-hosts', 'followed-views'], 'follow', '.'],
  'src/devnet': [
    'replace-file',
    ['anvil-state', 'program-log', 'rpc'],
    'children',
    'anvil',
    'registry',
    '.',
  ],
  'src/p2p': ['limits', 'peers', 'streams', 'gossip', 'range', 'connections', '.'],
  'src/toolkit': [
    'toolkit-commands',
    'cli',
    ['host-api', 'blocks'],
    'project',
    ['views', 'trial', 'lens', 'wallet'],
    ['deploy', 'register', 'typescript'],
    ['doctor', 'completion'],
    '.',
  ],
  operator: [
    'api',
    ['crd', 'resources', 'runtime'],
    ['reconcile', 'plugin'],
    'settings',
    'operator',
    'start-operator',
    'main',
  ],
  'operator/plugin': ['text', 'cluster', 'identity', ['status', 'logs'], ['claims', 'report'], '.'],
  'operator/resources': ['names', 'secrets', 'drift', 'pod', 'objects', '.'],
  'operator/runtime': ['metrics', 'client', 'cache', '.'],
  'operator/reconcile': ['statements', 'observe', 'fetch', 'evaluate', 'apply', 'status', '.'],
}

/** The room of a path inside `base`, as these floors name it; undefined for a path elsewhere. */
export function roomIn(base: string, floors: Floors, path: string): string | undefined {
  if (!path.startsWith(`${base}/`)) return undefined
  const [first = '', ...rest] = path.slice(base.length + 1).split('/')
  const name = first.replace(/\.ts$/, '')
  return rest.length > 0 || floors.flat().includes(name) ? name : '.'
}

/** True where a room may import another of the same building. */
export function mayImport(floors: Floors, from: string, to: string): boolean {
  return from === to || floorOf(floors, to) < floorOf(floors, from)
}

/** The height of a room; above everything where it has no floor. */
function floorOf(floors: Floors, room: string): number {
  const floor = floors.findIndex((rooms) => [rooms].flat().includes(room))
  return floor < 0 ? floors.length : floor
}
