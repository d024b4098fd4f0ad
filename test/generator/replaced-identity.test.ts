/** A Generator whose key directory was replaced, with the store that the former key sealed. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertExplained } from '../docs/support/explained.ts'
import { startAnvil } from '../support/chain/anvil.ts'
import { openGeneratorInProcess } from '../support/generator-in-process.ts'
import { testDirectory } from '../support/test-store.ts'

test('new keys over a sealed store are reported with both identities until they go or are pruned', async (t) => {
  const anvil = await startAnvil()
  t.after(() => anvil.close())
  await anvil.rpc('anvil_mine', '0x5')
  const home = testDirectory(t)
  const settings = { NODE_RPC_URL: anvil.url, PRUNER_ENABLED: 'true', PRUNER_MAX_BLOCKS: '20' }
  const open = (keys: string) =>
    openGeneratorInProcess(t, home, { ...settings, DB_KEY_PATH: join(home, keys) })

  const first = await open('keys')
  const { identity: former, errors } = await first.reports(({ head }) => head === 5)
  assert.deepEqual(errors, [])
  await first.close()

  const second = await open('others')
  const report = await second.reports(({ head, status }) => status === 'healthy' && head === 5)
  const [failure = assert.fail('nothing is said'), ...rest] = report.errors
  assert.deepEqual(rest, [])
  assert.equal(failure.code, 'GENERATOR_IDENTITY_REPLACED')
  assert.equal(
    failure.message,
    `Blocks up to 5 were sealed with the identity ${former}, and this Generator signs with ${report.identity} now.`,
  )
  assertExplained(failure)
  assert.deepEqual(second.captured.messages('warn'), ['signs with another identity'])
  await second.close()

  const restored = await open('keys')
  const { identity, errors: left } = await restored.reports(({ status }) => status === 'healthy')
  assert.deepEqual([identity, left], [former, []])
  await restored.close()

  const third = await open('more')
  await third.reports(({ error }) => error?.code === failure.code)
  await anvil.rpc('anvil_mine', '0x80')
  await third.reports(({ tail, error }) => (tail ?? 0) > 5 && error === null)
})
