/** Where the key of a deployment comes from. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { toKeystore } from '../../../src/toolkit/wallet/keystore.ts'
import { findSigningKey } from '../../../src/toolkit/wallet/signing-key.ts'

const keys = ['11', '22', '33'].map((byte) => `0x${byte.repeat(32)}`)
const [first = '', second = '', third = ''] = keys

test('a key file goes before the environment, and standard input is one', async (t) => {
  const { terminal, folder } = await open(t, { VIEWMESH_PRIVATE_KEY: second }, `${third}\n`)
  const file = join(folder, 'key')
  await writeFile(file, first)
  const keyOf = async (flags: object): Promise<string> =>
    await (await findSigningKey(terminal, flags)).privateKey()
  assert.equal(await keyOf({ keyFile: file }), first)
  assert.equal(await keyOf({}), second)
  assert.equal(await keyOf({ keyFile: '-' }), third)
})

test('without any key the command says how to get one', async (t) => {
  const { terminal } = await open(t, {})
  await assert.rejects(findSigningKey(terminal, {}), /there is no wallet .*default\.json/)
})

test('two keys are one too many', async (t) => {
  const { terminal } = await open(t, {})
  const flags = { wallet: 'a', keyFile: 'b' }
  await assert.rejects(findSigningKey(terminal, flags), /both --wallet and --key-file/)
})

test('a wallet whose note is not the address of its key signs nothing, and is no wrong usage', async (t) => {
  const { terminal, folder } = await open(t, { VIEWMESH_WALLET_PASSWORD: 'x' })
  const wallets = join(folder, '.viewmesh', 'wallets')
  await mkdir(wallets, { recursive: true })
  const path = join(wallets, 'default.json')
  const noted = '0x00000000000000000000000000000000000000Aa'
  const keystore = JSON.parse(toKeystore(first, 'x').text)
  await writeFile(path, JSON.stringify({ ...keystore, address: noted.slice(2) }))
  const key = await findSigningKey(terminal, {})
  assert.equal(key.address.toLowerCase(), noted.toLowerCase())
  await assert.rejects(key.privateKey(), {
    code: 'TOOLKIT_WALLET_INVALID',
    message: `${path} notes another address than its key has`,
  })
})

async function open(
  t: TestContext,
  env: Terminal['env'],
  stdin = '',
): Promise<{ terminal: Terminal; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'viewmesh-key-'))
  t.after(() => rm(folder, { recursive: true }))
  const output = { write: () => undefined }
  const terminal = {
    stdin: Readable.from([Buffer.from(stdin)]),
    interrupt: () => undefined,
    ...{ stdout: output, stderr: output, env, cwd: folder, homeFolder: folder },
    signal: new AbortController().signal,
  }
  return { terminal, folder }
}
