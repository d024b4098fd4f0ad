/** Which packages the images hold, from the sources; `test/e2e/images` looks into built ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
