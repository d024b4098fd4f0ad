/** Wallets whose key somebody types, or whose address no note says. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import * as Keystore from 'ox/Keystore'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { importWallet, inspectWallet } from '../../../src/toolkit/wallet/make-wallet.ts'
import { walletPath } from '../../../src/toolkit/wallet/wallet-files.ts'
import { testDirectory } from '../../support/test-store.ts'

const key = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const address = '0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b'

/** A terminal at which a person types this line once it is asked for. */
function terminalWith(t: TestContext, line: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const [printed, said]: [string[], string[]] = [[], []]
  const write = (text: string): void => {
    said.push(text)
    if (text.endsWith(': ')) setImmediate(() => stdin.write(`${line}\n`))
  }
  const folder = testDirectory(t)
  const terminal: Terminal = {
    ...{ stdin, stdout: { write: (text: string) => printed.push(text) } },
    ...{ stderr: { write, isTTY: true }, env: { VIEWMESH_WALLET_PASSWORD: 'p' } },
    ...{ cwd: folder, homeFolder: folder, signal: new AbortController().signal },
    interrupt: () => undefined,
  }
  return { terminal, printed, said }
}

test('a key is imported as it is typed, and is not shown', async (t) => {
  const { terminal, printed, said } = terminalWith(t, `  ${key} `)
  await importWallet(terminal, {})
  const path = walletPath(terminal, 'default')
  const lines = ['✅ Wallet imported successfully', `Address: ${address}`, `File:    ${path}`]
  assert.equal(printed.join(''), `${lines.join('\n')}\n`)
  assert.deepEqual(said, ['Private key or mnemonic: ', '\n'])
})

test('what is typed is a mnemonic where it has several words, else a key', async (t) => {
  for (const [typed, message] of [
    [' 0x12 ', 'what was typed holds no private key'],
    ['test test', 'what was typed holds no valid mnemonic phrase'],
  ] as const) {
    const { terminal } = terminalWith(t, typed)
    await assert.rejects(importWallet(terminal, {}), { code: 'TOOLKIT_WALLET_INVALID', message })
  }
})

test('the address of a wallet without a note is that of its key, which the password opens', async (t) => {
  const { terminal, printed } = terminalWith(t, '')
  const path = walletPath(terminal, 'other')
  await mkdir(dirname(path), { recursive: true })
  const [derived, options] = Keystore.pbkdf2({ password: 'p', iterations: 1 })
  await writeFile(path, JSON.stringify(Keystore.encrypt(key, derived, options)))
  await inspectWallet(terminal, { name: 'other' })
  assert.deepEqual(printed, [`Wallet other\nAddress: ${address}\nFile:    ${path}\n`])
  const env = { VIEWMESH_WALLET_PASSWORD: 'q' }
  await assert.rejects(inspectWallet({ ...terminal, env }, { name: 'other' }), {
    code: 'TOOLKIT_WALLET_LOCKED',
    message: `the password does not open ${path}`,
  })
})
