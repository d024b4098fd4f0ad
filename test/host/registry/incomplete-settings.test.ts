/** A Host that has the consensus RPC of the registry chain, but not the LCD that lists its Views. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertExplained } from '../../docs/support/explained.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { testDirectory } from '../../support/test-store.ts'

test('a Host without an LCD says that its consensus RPC alone finds no View', async (t) => {
  const host = await openHostInProcess(t, testDirectory(t), {
    REGISTRY_RPC_URL: 'http://127.0.0.1:26657',
  })
  await host.opened
  const { report } = await host.health()
  assert.equal(report.registry, null)
  const [incomplete] = report.errors.filter(({ code }) => code.startsWith('HOST_REGISTRY'))
  assert.equal(incomplete?.code, 'HOST_REGISTRY_INCOMPLETE')
  assertExplained(incomplete)
})
