/** Which packages the images hold, from the sources; `test/e2e/images` looks into built ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contents, type ProgramFolder, programFolders } from '../images/contents.ts'
import { packagesOf } from '../images/packages.ts'
import { repository } from './support/repository.ts'
import { readSourceFiles, type SourceFile } from './support/source-files.ts'

const sources = readSourceFiles('src', 'operator')

/** Names of the packages that a folder of programs goes with. */
function namesOf(name: ProgramFolder): Set<string> {
  const texts = sourcesOf(name).map(({ text }) => text)
  return new Set(packagesOf(repository, name, texts).map((found) => found.name))
}

test('the operator goes without client-node and without what only that needs', () => {
  const names = namesOf('operator')
  for (const absent of ['@kubernetes/client-node', 'openid-client', 'js-yaml', 'tar-fs']) {
    assert.equal(names.has(absent), false, absent)
  }
  for (const needed of ['undici', 'fastify', 'pino-pretty']) assert.ok(names.has(needed), needed)
})

/** The sources that a folder of programs is compiled from. */
function sourcesOf(name: ProgramFolder): SourceFile[] {
  const { built, left } = contents[name]
  const isIn = (path: string, places: readonly string[]): boolean =>
    places.some((place) => path === place.replace(/\.js$/, '.ts') || path.startsWith(`${place}/`))
  const isNamed = (path: string): boolean => built.includes(path.replace(/\.ts$/, '.js'))
  return sources.filter(({ path }) => isNamed(path) || (isIn(path, built) && !isIn(path, left)))
}

test('Generator and Host go with their store and with what is loaded by name alone', () => {
  const names = namesOf('service')
  for (const needed of ['lmdb', 'libp2p', 'pino-pretty']) assert.ok(names.has(needed), needed)
})

test('Generator and Host go without what signs for the registry chain, which the toolkit has', () => {
  const [service, toolkit] = [namesOf('service'), namesOf('toolkit')]
  for (const absent of ['viem', 'ox', '@kubernetes/client-node', 'ws']) {
    assert.equal(service.has(absent), false, absent)
  }
  for (const needed of ['viem', 'ox']) assert.ok(toolkit.has(needed), needed)
})

test('the toolkit lies on all that it shares with a Host, which it can start', () => {
  const toolkit = new Set(sourcesOf('toolkit').map(({ path }) => path))
  assert.equal(contents.toolkit.onTopOf, 'service')
  for (const { path } of sourcesOf('service')) assert.ok(toolkit.has(path), path)
})

/** What programs load of their own; what is loaded on demand may be missing where commands say so. */
const starts: Readonly<Record<ProgramFolder, readonly string[]>> = {
  operator: ['operator/main.ts'],
  service: ['src/main.ts', 'src/generator/main.ts', 'src/host/main.ts'],
  toolkit: ['src/main.ts', 'src/host/main.ts'],
}
const onDemand: Readonly<Record<ProgramFolder, readonly string[]>> = {
  operator: [],
  service: [
    'src/devnet/main.ts',
    'src/devnet/config.ts',
    'src/toolkit/main.ts',
    'src/toolkit/verify-command.ts',
  ],
  toolkit: ['src/devnet/main.ts', 'src/devnet/config.ts'],
}

for (const name of programFolders) {
  test(`every file that a program needs is in the folder of images named ${name}`, () => {
    const files = new Map(sources.map((file) => [file.path, file]))
    const held = new Set(sourcesOf(name).map(({ path }) => path))
    const needed = new Set<string>(starts[name])
    for (const path of needed) {
      for (const { own, typeOnly, target } of files.get(path)?.imports ?? []) {
        const isOptional = path === 'src/main.ts' && onDemand[name].includes(target)
        if (own && !typeOnly && !isOptional && files.has(target)) needed.add(target)
      }
    }
    assert.ok(needed.size > 50)
    assert.deepEqual(
      [...needed].filter((path) => !held.has(path)),
      [],
    )
  })
}
