/** Which packages the images hold, from the sources; `test/e2e/images` looks into built ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contents } from '../images/contents.ts'
import { packagesOf } from '../images/packages.ts'
import { repository } from './support/repository.ts'
import { readSourceFiles } from './support/source-files.ts'

function namesOf(name: 'service' | 'operator', ...folders: readonly string[]): Set<string> {
  const texts = readSourceFiles(...folders).map(({ text }) => text)
  return new Set(packagesOf(repository, name, texts).map((found) => found.name))
}

test('the operator goes without client-node and without what only that needs', () => {
  const names = namesOf(
    'operator',
    ...['api', 'reconcile', 'resources', 'runtime'].map((room) => `operator/${room}`),
    'src/service',
  )
  for (const absent of ['@kubernetes/client-node', 'openid-client', 'js-yaml', 'tar-fs']) {
    assert.equal(names.has(absent), false, absent)
  }
  for (const needed of ['undici', 'fastify', 'pino-pretty']) assert.ok(names.has(needed), needed)
})

test('Generator and Host go with their store and with what is loaded by name alone', () => {
  const names = namesOf('service', 'src')
  for (const needed of ['lmdb', 'libp2p', 'pino-pretty']) assert.ok(names.has(needed), needed)
  assert.equal(names.has('@kubernetes/client-node'), false)
})

test('every file that a program in an image needs is in the image', () => {
  const files = new Map(readSourceFiles('src', 'operator').map((file) => [file.path, file]))
  const starts = {
    operator: ['operator/main.ts'],
    service: ['src/main.ts', 'src/generator/main.ts', 'src/host/main.ts'],
  } as const
  for (const name of ['operator', 'service'] as const) {
    const { built, left } = contents[name]
    const isIn = (path: string, places: readonly string[]): boolean =>
      places.some((place) => path === place.replace(/\.js$/, '.ts') || path.startsWith(`${place}/`))
    const needed = new Set<string>(starts[name])
    for (const path of needed) {
      const imports = files.get(path)?.imports ?? []
      for (const { own, typeOnly, target } of imports) {
        if (own && !typeOnly && files.has(target) && !isIn(target, left)) needed.add(target)
      }
    }
    assert.ok(needed.size > 50)
    assert.deepEqual(
      [...needed].filter((path) => !isIn(path, built)),
      [],
      name,
    )
  }
})
