import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { choosePassword, readPassword } from '../../../src/toolkit/wallet/password.ts'
import { testDirectory } from '../../support/test-store.ts'

/** A terminal with this environment, at which a person types these lines, or nobody is. */
function terminalWith(env: Terminal['env'], lines: readonly string[] | null = null) {
  const said: string[] = []
  const isTTY = lines !== null
  const stdin = Object.assign(new PassThrough(), { isTTY })
  const left = [...(lines ?? [])]
  const write = (text: string): void => {
    said.push(text)
    // Typed once it is asked for.
    if (text !== '\n') setImmediate(() => stdin.write(`${left.shift()}\n`))
  }
  const terminal: Terminal = {
    ...{ stdin, stdout: { write: () => undefined }, stderr: { write, isTTY }, env },
    interrupt: () => undefined,
    ...{ cwd: '/', homeFolder: '/', signal: new AbortController().signal },
  }
  return { terminal, said }
}

const variable = 'VIEWMESH_WALLET_PASSWORD'

test('a password comes from the named file, else from the environment', async (t) => {
  const path = join(testDirectory(t), 'password')
  await writeFile(path, ' with spaces \r\n')
  const { terminal } = terminalWith({ [variable]: 'other' })
  assert.equal(await readPassword(terminal, path), ' with spaces ')
  assert.equal(await readPassword(terminal, undefined), 'other')
  const piped = { ...terminal, stdin: Readable.from([Buffer.from('pi'), Buffer.from('ped\n')]) }
  assert.equal(await readPassword(piped, '-'), 'piped')
})

test('a password is asked for once to open a wallet, and twice to make one', async () => {
  const open = terminalWith({}, ['secret'])
  assert.equal(await readPassword(open.terminal, undefined), 'secret')
  assert.deepEqual(open.said, ['Password of the wallet: ', '\n'])
  const make = terminalWith({}, ['secret', 'secret'])
  assert.equal(await choosePassword(make.terminal, undefined), 'secret')
  assert.deepEqual(make.said, ['Password for the wallet: ', '\n', 'Once more: ', '\n'])
})

test('no wallet is made with an empty password, or with one that was typed otherwise', async () => {
  const chosen = (...given: Parameters<typeof terminalWith>) =>
    choosePassword(terminalWith(...given).terminal, undefined)
  const locked = (message: string) => ({ code: 'TOOLKIT_WALLET_LOCKED', message })
  await assert.rejects(chosen({ [variable]: '' }), locked('the password is empty'))
  await assert.rejects(chosen({}, ['a', 'b']), locked('the passwords differ'))
  await assert.rejects(chosen({}, null), locked('no password was given'))
})

test('a file that is missing, or larger than a secret, is refused by name', async (t) => {
  const { terminal } = terminalWith({})
  const path = join(testDirectory(t), 'password')
  const refused = (message: string) => ({ code: 'TOOLKIT_INPUT_UNREADABLE', message })
  await assert.rejects(readPassword(terminal, path), refused(`${path} cannot be read`))
  await writeFile(path, 'x'.repeat(65_536))
  assert.equal((await readPassword(terminal, path)).length, 65_536)
  await writeFile(path, 'x'.repeat(65_537))
  const tooLarge = 'has more than 65536 bytes, which no secret needs'
  await assert.rejects(readPassword(terminal, path), refused(`${path} ${tooLarge}`))
  const endless = { ...terminal, stdin: Readable.from([Buffer.alloc(65_537)]) }
  await assert.rejects(readPassword(endless, '-'), refused(`standard input ${tooLarge}`))
})

test('standard input that fails is reported as it fails', async () => {
  const failed = new Error('gone')
  const { terminal } = terminalWith({})
  const stdin = new Readable({ read: () => stdin.destroy(failed) })
  await assert.rejects(readPassword({ ...terminal, stdin }, '-'), failed)
})
