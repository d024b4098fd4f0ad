/** Habits that hold everywhere: homes of packages, sizes, and what a file may not do. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import ts from 'typescript'
import { readSourceFiles, root, type SourceFile } from '../support/source-files.ts'
import { published } from './published.ts'

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
  '@noble/curves': ['identity', 'verify'],
  '@ethereumjs/rlp': ['chain'],
  '@noble/hashes': ['primitives', 'chain', 'verify', 'views'],
  commander: ['main', 'service', 'toolkit', 'operator'],
  fastify: ['service', 'graphql'],
  graphiql: ['graphql'],
  graphql: ['bracket-depth', 'graphql', 'host', 'views'],
  'graphql-helix': ['graphql'],
  libp2p: ['p2p'],
  lmdb: ['store'],
  'lru-cache': ['lens', 'store', 'graphql', 'host'],
  ox: ['toolkit'],
  pino: ['service'],
  'pino-pretty': ['service'],
  'prom-client': [
    'scraped-gauge',
    'chain',
    'store',
    'p2p',
    'lens',
    'registry',
    'graphql',
    'service',
    'generator',
    'host',
    'app',
    'operator',
  ],
  react: ['graphql'],
  'react-dom': ['graphql'],
  typescript: ['operator'],
  undici: ['chain', 'registry', 'operator'],
  viem: ['devnet', 'registry'],
  ws: ['devnet'],
  yaml: ['service', 'toolkit', 'operator'],
  zod: ['service', 'toolkit'],
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
  'src/lens/child',
  'operator',
  'operator/plugin',
]

const maxLines = 400
const maxFunctionLines = 80

const files = readSourceFiles('src', 'operator')
const tests = readSourceFiles('test')

/** The room of a path: a folder of `src`, the name of a file right in it, or `operator`. */
function roomOf(path: string): string {
  const [top = '', second = ''] = path.split('/')
  return top === 'src' ? second.replace(/\.ts$/, '') : top
}

test('each package is used in its home only', () => {
  const breaches = files.flatMap(({ path, imports }) =>
    imports
      .filter(needsHome)
      .filter(({ target }) => !(homes[target] ?? []).includes(roomOf(path)))
      .map(({ target }) => `${path} imports ${target}`),
  )
  assert.deepEqual(breaches, [])
})

test('each home of a package uses it', () => {
  const idle = Object.entries(homes).flatMap(([name, rooms]) =>
    rooms
      .filter((room) => !files.some((file) => roomOf(file.path) === room && uses(file, name)))
      .map((room) => `${room} uses no ${name}`),
  )
  assert.deepEqual(idle, [])
})

test('each dependency has a home and is used', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const imported = files.flatMap(({ imports }) => imports.map(({ target }) => target))
  const idle = Object.keys(dependencies).filter(
    (name) => homes[name] === undefined || !(imported.includes(name) || served.includes(name)),
  )
  assert.deepEqual(idle, [])
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
  const handedOn = /^export (?:type )?(?:\*|\{[^}]*\}) from /m
  const breaches = files.filter(
    ({ path, text }) => vague.test(path) || (!published.includes(path) && handedOn.test(text)),
  )
  assert.deepEqual(pathsOf(breaches), [])
})

test(`no file is longer than ${maxLines} lines`, () => {
  const long = [...files, ...tests].filter(({ text }) => text.split('\n').length > maxLines + 1)
  assert.deepEqual(pathsOf(long), [])
})

test(`no function is longer than ${maxFunctionLines} lines`, () => {
  assert.deepEqual(files.flatMap(longFunctions), [])
})

test('every file says first what it is for', () => {
  assert.deepEqual(pathsOf(files.filter(({ text }) => !text.startsWith('/**'))), [])
})

test('every suite on a cluster has its failures looked into before its namespaces go', () => {
  const suites = tests.filter(({ path }) => /^test\/e2e\/cluster\/.*\.test\.ts$/.test(path))
  const making = suites.filter(({ text }) => /\bopen(?:Operated)?Cluster\(/.test(text))
  assert.ok(making.length > 10)
  assert.deepEqual(pathsOf(making.filter(({ text }) => !text.includes('  diagnoseFailures('))), [])
})

function needsHome({ own, target, typeOnly }: SourceFile['imports'][number]): boolean {
  return !own && !target.startsWith('node:') && !(typeOnly && typesEverywhere.includes(target))
}

/** Whether a file imports a package, or names it as one whose files are served. */
function uses({ imports, text }: SourceFile, name: string): boolean {
  return served.includes(name)
    ? text.includes(`'${name}'`)
    : imports.some((one) => one.target === name && needsHome(one))
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

/** Functions of a file with more lines than they may have, from the signature to the closing brace. */
function longFunctions({ path, text }: SourceFile): string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const lineAt = (at: number): number => tree.getLineAndCharacterOfPosition(at).line
      const lines = lineAt(node.end) - lineAt(node.getStart()) + 1
      if (lines > maxFunctionLines) found.push(`${path} ${node.name?.getText() ?? ''} ${lines}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function pathsOf(found: readonly SourceFile[]): string[] {
  return found.map(({ path }) => path)
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}
