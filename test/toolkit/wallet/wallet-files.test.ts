/** Where wallets are kept, and that none is lost to another. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import {
  readWallet,
  requireNoWallet,
  walletPath,
  writeWallet,
} from '../../../src/toolkit/wallet/wallet-files.ts'
import { testDirectory } from '../../support/test-store.ts'

test('of two wallets of one name that are made at once, the first stays, and no draft', async (t) => {
  const path = join(testDirectory(t), 'wallets', 'a.json')
  await requireNoWallet(path)
  await writeWallet(path, 'first')
  await assert.rejects(writeWallet(path, 'second'), {
    code: 'TOOLKIT_WALLET_EXISTS',
    message: `there is a wallet already: ${path}`,
  })
  assert.equal(await readFile(path, 'utf8'), 'first')
  assert.deepEqual(await readdir(join(path, '..')), ['a.json'])
})

test('a wallet that cannot be written fails as the system says, and leaves no draft', async (t) => {
  const folder = testDirectory(t)
  await assert.rejects(writeWallet(join(folder, 'x'.repeat(300)), 'x'), { code: 'ENAMETOOLONG' })
  assert.deepEqual(await readdir(folder), [])
})

test('what cannot be read in the place of a wallet is not taken for none', async (t) => {
  const homeFolder = testDirectory(t)
  const terminal = { homeFolder } as Terminal
  const path = walletPath(terminal, 'a')
  await mkdir(path, { recursive: true })
  const refused = { code: 'TOOLKIT_INPUT_UNREADABLE', message: `${path} cannot be read` }
  await assert.rejects(readWallet(terminal, 'a'), refused)
  await assert.rejects(requireNoWallet(path), refused)
})
