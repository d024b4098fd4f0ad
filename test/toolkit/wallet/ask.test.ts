/** What questions make of the keys that end them. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { askConsent, askSecret, canAsk } from '../../../src/toolkit/wallet/ask.ts'

/** A terminal at which these keys are pressed once something is asked. */
function terminalWith(keys: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const interrupted = new AbortController()
  const said: string[] = []
  const write = (text: string): void => {
    said.push(text)
    if (text !== '\n' && keys !== '') setImmediate(() => stdin.write(keys))
  }
  const terminal: Terminal = {
    ...{ stdin, stdout: { write: () => undefined }, stderr: { write, isTTY: true }, env: {} },
    ...{ cwd: '/', homeFolder: '/', signal: interrupted.signal },
    interrupt: () => interrupted.abort(),
  }
  return { terminal, said, stdin }
}

const controlC = '\u0003'
const controlD = '\u0004'

test('Ctrl-C at a hidden question interrupts the command, as it does everywhere else', async () => {
  for (const keys of [controlC, `half a pass${controlC}`]) {
    const { terminal, said } = terminalWith(keys)
    await assert.rejects(askSecret(terminal, 'Password: '), { name: 'AbortError' })
    assert.equal(terminal.signal.aborted, true)
    assert.deepEqual(said, ['Password: ', '\n'])
  }
})

test('Ctrl-D at a hidden question is an empty answer', async () => {
  const { terminal } = terminalWith(controlD)
  assert.equal(await askSecret(terminal, 'Password: '), '')
  assert.equal(terminal.signal.aborted, false)
})

test('consent is y or yes, and nothing else', async () => {
  for (const [typed, consents] of [
    ['y\n', true],
    ['YES \n', true],
    ['n\n', false],
    ['\n', false],
    ['yesterday\n', false],
  ] as const)
    assert.equal(await askConsent(terminalWith(typed).terminal, 'Register it?'), consents, typed)
})

test('Ctrl-D, which ends the input, is no consent', async () => {
  const { terminal, stdin } = terminalWith('')
  stdin.end()
  assert.equal(await askConsent(terminal, 'Register it?'), false)
})

test('a question ends with the command that asks it', async () => {
  for (const ask of [askSecret, askConsent]) {
    const { terminal } = terminalWith('')
    const asked = ask(terminal, 'Password: ')
    terminal.interrupt()
    await assert.rejects(asked, { name: 'AbortError' })
  }
})

test('a question that was answered leaves the keyboard to the next one', async () => {
  for (const ask of [askSecret, askConsent]) {
    const { terminal, stdin } = terminalWith('y\n')
    await ask(terminal, 'Register it?')
    assert.equal(stdin.isPaused(), true)
    assert.equal(getEventListeners(terminal.signal, 'abort').length, 0)
  }
})

test('somebody can be asked where keys come from a terminal and questions go to one', () => {
  const { terminal } = terminalWith('')
  const stderr = { write: terminal.stderr.write, isTTY: false }
  const elsewhere = { stdin: new PassThrough(), stderr }
  assert.equal(canAsk(terminal), true)
  assert.equal(canAsk({ ...terminal, stdin: elsewhere.stdin }), false)
  assert.equal(canAsk({ ...terminal, stderr: elsewhere.stderr }), false)
  assert.equal(canAsk({ ...terminal, ...elsewhere }), false)
})
