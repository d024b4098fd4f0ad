/** docs/registry.md: its settings are accepted as they are written. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadHostSettings } from '../../src/host/config.ts'
import { testDirectory } from '../support/test-store.ts'
import { blocksOf } from './support/page.ts'

test('the settings of the page allow one creator and deny everybody else', async (t) => {
  const [block] = blocksOf('docs/registry.md').filter(({ language }) => language === 'yaml')
  const path = join(testDirectory(t), 'config.yaml')
  await writeFile(path, block?.text ?? '')
  const { settings } = loadHostSettings({
    argv: ['--config', path],
    env: { DB_KEYRING_SECRET: 's' },
  })
  assert.equal(settings.registryLcdUrl, 'https://registry.example.org:1317')
  assert.equal(settings.registryRpcUrl, 'https://registry.example.org:26657')
  assert.deepEqual(settings.registryAllow, ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'])
  assert.deepEqual(settings.registryDeny, ['*'])
})
