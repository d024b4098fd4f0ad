import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSourceFiles, root, type SourceFile } from './support/source-files.ts'

/**
 * The floors of `src`. A room imports from lower floors only, never from its own; on floor 0 each
 * room may also use those named before it.
 */
const floors: readonly (readonly string[])[] = [
  ['errors', 'scraped-gauge', 'primitives', 'verify', 'views'],
  ['chain', 'store', 'identity', 'p2p', 'registry', 'lens'],
  ['graphql', 'mesh', 'service'],
  ['generator', 'host', 'toolkit', 'app', 'devnet'],
  ['main'],
]

/**
 * The rooms of `operator` and which others each may import: what people write lies below what is made of
 * it, that below the work in a cluster, and the runtime knows nothing of either.
 */
const operatorRooms: Readonly<Record<string, readonly string[]>> = {
  api: [],
  crd: ['api'],
  resources: ['api'],
  runtime: [],
  reconcile: ['api', 'resources', 'runtime'],
  settings: [],
  operator: ['reconcile', 'runtime', 'settings'],
  main: ['operator', 'runtime', 'settings'],
}

/** Folders of `src` that hold no TypeScript of ours. */
const foreignFolders: readonly string[] = ['lenses']

/**
 * Where a package may be used; a development dependency only in what runs in development. Of those
 * in `typesEverywhere` any room may import types, while instances come in as parts.
 */
const homes: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['operator'],
  '@libp2p/crypto': ['p2p'],
  '@libp2p/gossipsub': ['p2p'],
  '@libp2p/identify': ['p2p'],
  '@libp2p/interface': ['p2p'],
  '@libp2p/noise': ['p2p'],
  '@libp2p/peer-id': ['p2p'],
  '@libp2p/ping': ['p2p'],
  '@libp2p/tcp': ['p2p'],
  '@libp2p/utils': ['p2p'],
  '@libp2p/yamux': ['p2p'],
  '@multiformats/multiaddr': ['p2p'],
  '@noble/curves': ['identity', 'primitives', 'chain', 'verify'],
  '@ethereumjs/rlp': ['chain'],
  '@noble/hashes': ['identity', 'primitives', 'chain', 'verify'],
  commander: ['main', 'service', 'toolkit'],
  fastify: ['service', 'graphql'],
  graphiql: ['host'],
  graphql: ['graphql', 'host'],
  'graphql-helix': ['graphql'],
  libp2p: ['p2p'],
  lmdb: ['store'],
  'lru-cache': ['store', 'graphql', 'host'],
  pino: ['service'],
  'pino-pretty': ['service'],
  'prom-client': [
    'scraped-gauge',
    'chain',
    'store',
    'p2p',
    'graphql',
    'service',
    'generator',
    'host',
    'operator',
  ],
  react: ['host'],
  'react-dom': ['host'],
  typescript: ['operator'],
  undici: ['chain', 'operator'],
  viem: ['devnet'],
  yaml: ['service', 'operator'],
  zod: ['service'],
}
const typesEverywhere: readonly string[] = ['pino', 'prom-client', 'fastify']

/** Packages whose files the Host hands to browsers as they are. */
const served: readonly string[] = ['graphiql', 'react', 'react-dom']

/** Folders whose `main.ts` starts a program. */
const programs: readonly string[] = [
  'src',
  'src/generator',
  'src/host',
  'src/toolkit',
  'src/devnet',
  'operator',
  'operator/crd',
]

const maxLines = 400

const files = readSourceFiles('src', 'operator')
const tests = readSourceFiles('test')

/** The room of a path: a folder of `src`, the name of a file right in it, or `operator`. */
function roomOf(path: string): string {
  const [top = '', second = ''] = path.split('/')
  return top === 'src' ? second.replace(/\.ts$/, '') : top
}

/** The room of a path in `operator`, where `api.ts` and the folder `api` are one; else undefined. */
function operatorRoomOf(path: string): string | undefined {
  const [top, second = ''] = path.split('/')
  return top === 'operator' ? second.replace(/\.ts$/, '') : undefined
}

function floorOf(room: string): number {
  return floors.findIndex((rooms) => rooms.includes(room))
}

function mayImport(from: string, to: string): boolean {
  if (from === to) return true
  if (from === 'operator') return to === 'service' || to === 'errors'
  const floor = floorOf(from)
  if (floorOf(to) < floor) return floorOf(to) >= 0
  const ground = floors[0] ?? []
  return floor === 0 && floorOf(to) === 0 && ground.indexOf(to) < ground.indexOf(from)
}

test('every folder of src stands on a floor', () => {
  const known = [...floors.flat(), ...foreignFolders]
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
  assert.deepEqual(
    folders.filter((name) => !known.includes(name)),
    [],
  )
})

test('imports go downwards, never sideways', () => {
  const breaches = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ own, target }) => own && !mayImport(roomOf(path), roomOf(target)))
      .map(({ target }) => `${path} imports ${target}`),
  )
  assert.deepEqual(breaches, [])
})

test('every room of the operator has its place, and imports what lies below it only', () => {
  const breaches = files.flatMap(({ path, imports }) => {
    const from = operatorRoomOf(path)
    if (from === undefined) return []
    const allowed = [from, ...(operatorRooms[from] ?? [])]
    return imports
      .map(({ target }) => ({ target, to: operatorRoomOf(target) }))
      .filter(({ to }) => to !== undefined && !allowed.includes(to))
      .map(({ target }) => `${path} imports ${target}`)
  })
  assert.deepEqual(breaches, [])
  const rooms = new Set(files.flatMap(({ path }) => operatorRoomOf(path) ?? []))
  assert.deepEqual([...rooms].toSorted(), Object.keys(operatorRooms).toSorted())
})

test('no file imports itself by a detour', () => {
  assert.deepEqual(findCycles([...files, ...tests]), [])
})

test('each package is used in its home only', () => {
  const breaches = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ own, target }) => !own && !target.startsWith('node:'))
      .filter(({ target, typeOnly }) => !(typeOnly && typesEverywhere.includes(target)))
      .filter(({ target }) => !(homes[target] ?? []).includes(roomOf(path)))
      .map(({ target }) => `${path} imports ${target}`),
  )
  assert.deepEqual(breaches, [])
})

test('each dependency has a home and is used', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const imported = files.flatMap(({ imports }) => imports.map(({ target }) => target))
  const idle = Object.keys(dependencies).filter(
    (name) => homes[name] === undefined || !(imported.includes(name) || served.includes(name)),
  )
  assert.deepEqual(idle, [])
})

test('the ground floor has no I/O, no clock and no chance', () => {
  const ground = files.filter(({ path }) => floorOf(roomOf(path)) === 0)
  assert.deepEqual(impure(ground, ['node:buffer', 'node:crypto', 'node:zlib']), [])
})

test('what browsers import as `viewmesh/verify` needs nothing of Node', () => {
  const reached = reachedFrom('src/verify/verify.ts')
  assert.ok(reached.length > 10)
  const breaches = reached.flatMap(({ path, text, imports }) => [
    ...imports
      .filter(({ own, typeOnly, target }) => !own && !typeOnly && !target.startsWith('@noble/'))
      .map(({ target }) => `${path} imports ${target}`),
    ...(/\bBuffer\b/.test(withoutComments(text)) ? [`${path} uses Buffer`] : []),
  ])
  assert.deepEqual(breaches, [])
})

test('what is made of a resource depends on nothing but what is given', () => {
  const pure = files.filter(({ path }) => /^operator\/(?:api|resources)\b/.test(path))
  assert.ok(pure.length > 30)
  assert.deepEqual(impure(pure, ['node:crypto', 'node:util']), [])
})

test('the environment, the arguments and the exit belong to main.ts and src/service', () => {
  const touched =
    /\bprocess\.(?:env|argv|exit)\b|import \{[^}]*\b(?:env|argv|exit)\b[^}]*\} from 'node:process'/
  const breaches = files
    .filter(({ path }) => !path.endsWith('/main.ts') && roomOf(path) !== 'service')
    .filter(({ text }) => touched.test(withoutComments(text)))
  assert.deepEqual(pathsOf(breaches), [])
})

test('main.ts means "start here" and nothing else', () => {
  const mains = files.filter(({ path }) => path.endsWith('/main.ts'))
  const breaches = mains.filter(({ path }) => !programs.includes(path.replace(/\/main\.ts$/, '')))
  assert.deepEqual(pathsOf(breaches), [])
})

test('no file gathers what others offer', () => {
  const vague = /\/(?:index|utils?|helpers?|types|misc|shared)\.ts$/
  const breaches = files.filter(
    ({ path, text }) => vague.test(path) || /^export (?:type )?(?:\*|\{[^}]*\}) from /m.test(text),
  )
  assert.deepEqual(pathsOf(breaches), [])
})

test(`no file is longer than ${maxLines} lines`, () => {
  const long = [...files, ...tests].filter(({ text }) => text.split('\n').length > maxLines + 1)
  assert.deepEqual(pathsOf(long), [])
})

test('every file says first what it is for', () => {
  assert.deepEqual(pathsOf(files.filter(({ text }) => !text.startsWith('/**'))), [])
})

test('every suite on a cluster has its failures looked into before its namespaces go', () => {
  const suites = tests.filter(({ path }) => /^test\/cluster\/.*\.test\.ts$/.test(path))
  const making = suites.filter(({ text }) => /\bopen(?:Operated)?Cluster\(/.test(text))
  assert.ok(making.length > 10)
  assert.deepEqual(pathsOf(making.filter(({ text }) => !text.includes('  diagnoseFailures('))), [])
})

/** Files with a clock, with chance, or with another module of Node than these. */
function impure(sources: readonly SourceFile[], allowed: readonly string[]): string[] {
  const moving =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\brandomBytes\b|\bset(?:Timeout|Interval)\b|\bfetch\(/
  const breaches = sources.filter(
    ({ text, imports }) =>
      moving.test(text) ||
      imports.some(({ target }) => target.startsWith('node:') && !allowed.includes(target)),
  )
  return pathsOf(breaches)
}

/** A file and all that is there at run time because of it. */
function reachedFrom(start: string): SourceFile[] {
  const reached = new Set([start])
  for (const path of reached) {
    const imports = files.find((file) => file.path === path)?.imports ?? []
    for (const { own, typeOnly, target } of imports) if (own && !typeOnly) reached.add(target)
  }
  return files.filter(({ path }) => reached.has(path))
}

function pathsOf(found: readonly SourceFile[]): string[] {
  return found.map(({ path }) => path)
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}

/** Cycles of imports that are there at run time, each told once. */
function findCycles(sources: readonly SourceFile[]): string[] {
  const edges = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ own, typeOnly }) => own && !typeOnly).map(({ target }) => target),
    ]),
  )
  const done = new Set<string>()
  const trail: string[] = []
  const cycles: string[] = []
  const visit = (path: string): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
    if (done.has(path)) return
    done.add(path)
    trail.push(path)
    for (const next of edges.get(path) ?? []) visit(next)
    trail.pop()
  }
  for (const path of edges.keys()) visit(path)
  return cycles
}
