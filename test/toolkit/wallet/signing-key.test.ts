/** Where the key of a deployment comes from. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import * as Keystore from 'ox/Keystore'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { addressOf } from '../../../src/toolkit/wallet/keystore.ts'
import { findSigningKey } from '../../../src/toolkit/wallet/signing-key.ts'
import { walletPath } from '../../../src/toolkit/wallet/wallet-files.ts'

const [first, second, third] = [
  `0x${'11'.repeat(32)}`,
  `0x${'22'.repeat(32)}`,
  `0x${'33'.repeat(32)}`,
] as const

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

test('a named wallet goes before the environment, in which an empty key is none', async (t) => {
  const { terminal } = await open(t, { VIEWMESH_PRIVATE_KEY: second })
  const missing = (name: string) => ({
    code: 'TOOLKIT_WALLET_MISSING',
    message: `there is no wallet ${walletPath(terminal, name)}`,
  })
  await assert.rejects(findSigningKey(terminal, { wallet: 'mine' }), missing('mine'))
  const env = { VIEWMESH_PRIVATE_KEY: '' }
  await assert.rejects(findSigningKey({ ...terminal, env }, {}), missing('default'))
})

test('what holds no key is named, and is not shown', async (t) => {
  const { terminal, folder } = await open(t, { VIEWMESH_PRIVATE_KEY: 'secret' }, 'secret')
  const file = join(folder, 'key')
  await writeFile(file, 'secret')
  for (const [flags, place] of [
    [{ keyFile: file }, file],
    [{ keyFile: '-' }, 'standard input'],
    [{}, 'VIEWMESH_PRIVATE_KEY'],
  ] as const)
    await assert.rejects(findSigningKey(terminal, flags), {
      code: 'TOOLKIT_WALLET_INVALID',
      message: `${place} holds no private key`,
    })
})

test('a wallet is opened once it signs, and at once where it does not note its address', async (t) => {
  const { terminal, folder } = await open(t, { VIEWMESH_WALLET_PASSWORD: 'x' })
  const keystore = keystoreOf(first)
  const address = addressOf(first)
  await mkdir(join(folder, '.viewmesh', 'wallets'), { recursive: true })
  await writeFile(walletPath(terminal, 'noted'), JSON.stringify({ ...keystore, address }))
  await writeFile(walletPath(terminal, 'other'), JSON.stringify(keystore))
  for (const wallet of ['noted', 'other']) {
    const key = await findSigningKey(terminal, { wallet })
    assert.deepEqual([key.address, await key.privateKey()], [address, first])
  }
  const locked = { ...terminal, env: {} }
  assert.equal((await findSigningKey(locked, { wallet: 'noted' })).address, address)
  await assert.rejects(findSigningKey(locked, { wallet: 'other' }), {
    code: 'TOOLKIT_WALLET_LOCKED',
  })
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
  await writeFile(path, JSON.stringify({ ...keystoreOf(first), address: noted.slice(2) }))
  const key = await findSigningKey(terminal, {})
  assert.equal(key.address.toLowerCase(), noted.toLowerCase())
  await assert.rejects(key.privateKey(), {
    code: 'TOOLKIT_WALLET_INVALID',
    message: `${path} notes another address than its key has`,
  })
})

/** A key behind the password x, which is opened in no time. */
function keystoreOf(key: `0x${string}`): Keystore.Keystore {
  const [derived, options] = Keystore.pbkdf2({ password: 'x', iterations: 1 })
  return Keystore.encrypt(key, derived, options)
}

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
