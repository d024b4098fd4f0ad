/** What the import of `viewmesh/app` loads: what an application needs, and nothing that only programs do. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startChild } from '../support/child-program.ts'
import { repository } from '../support/repository.ts'

test('the import loads the packages of store, peers, queries and log, and no others', async () => {
  const { dependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const nodeFlags = ['--import', new URL('../support/report-modules.ts', import.meta.url).href]
  const { code, stderr } = await startChild('src/app/app.ts', { nodeFlags }).ended()
  assert.equal(code, 0)
  const own: readonly string[] = Object.keys(dependencies)
  const loaded = (JSON.parse(stderr) as string[]).filter((name) => own.includes(name))
  assert.deepEqual(
    loaded.filter((name) => !/^@(?:libp2p|noble|multiformats)\//.test(name)),
    ['graphql', 'libp2p', 'lmdb', 'lru-cache', 'pino', 'prom-client'],
  )
})
