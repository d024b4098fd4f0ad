import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import { exitCodeOf, usageError } from '../../../src/toolkit/cli/exit-code.ts'
import {
  boundedFailure,
  openProgressLine,
  printResult,
  remark,
  toSingleLine,
} from '../../../src/toolkit/cli/print.ts'
import { tableText } from '../../../src/toolkit/cli/table.ts'

function terminalTo(written: string[], isTTY: boolean, columns = 20) {
  const output = { write: (text: string) => written.push(text), isTTY, columns }
  return {
    ...{ stdin: Readable.from([]), stdout: output, stderr: output, env: {} },
    interrupt: () => undefined,
    ...{ cwd: '/', homeFolder: '/', signal: new AbortController().signal },
  }
}

test('progress is one line that is written over, on a terminal only', () => {
  const shown: string[] = []
  const progress = openProgressLine(terminalTo(shown, true))
  progress.show('a line that is longer than twenty')
  progress.end()
  assert.deepEqual(shown, ['\r\u001b[2Ka line that is long', '\r\u001b[2K'])
  const hidden: string[] = []
  openProgressLine(terminalTo(hidden, false)).show('x')
  remark(terminalTo(hidden, false), 'kept')
  assert.deepEqual(hidden, ['kept\n'])
})

test('progress on a terminal without a size, as in a container, is whole', () => {
  const shown: string[] = []
  openProgressLine(terminalTo(shown, true, 0)).show('waiting for a block')
  assert.deepEqual(shown, ['\r\u001b[2Kwaiting for a block'])
  openProgressLine(terminalTo(shown, true, 0)).show('x'.repeat(80))
  assert.deepEqual(shown.slice(1), [`\r\u001b[2K${'x'.repeat(79)}`])
})

test('text of strangers moves no cursor and turns no direction', () => {
  assert.equal(toSingleLine('a\u001b[31mb\u001b]0;title\u0007c\nd\u202ee'), 'abc d e')
})

test('a result and a remark keep lines and styles, and control the terminal with nothing else', () => {
  const written: string[] = []
  const terminal = terminalTo(written, true)
  const text = '\u001b[1mView:\u001b[22m\n\ta\u001b[2Jb\u001b]0;title\u0007c\u009b2J\rd\u202ee\r\nf'
  printResult(terminal, null, { json: false, text })
  remark(terminal, text)
  const safe = '\u001b[1mView:\u001b[22m\n\tabc d e\nf\n'
  assert.deepEqual(written, [safe, safe])
})

test('a result as JSON escapes what terminals act on, and has the same value', () => {
  const written: string[] = []
  const value = { text: 'a\u001b[2J\u009b2J\u202eb' }
  printResult(terminalTo(written, true), value, { json: true, text: '' })
  assert.doesNotMatch(written.join(''), /[^\n -~]/)
  assert.match(written.join(''), /^\{\n {2}"text": "a.*"\n\}\n$/)
  assert.deepEqual(JSON.parse(written.join('')), value)
})

test('a result as JSON escapes every control and mark of direction, and no other letter', () => {
  const marks = [
    ...[0x7f, 0x80, 0x9f, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069],
  ].map((code) => String.fromCharCode(code))
  const shown = (text: string): string => {
    const written: string[] = []
    printResult(terminalTo(written, true), text, { json: true, text: '' })
    return written.join('')
  }
  for (const mark of marks) {
    const code = mark.charCodeAt(0).toString(16).padStart(4, '0')
    assert.equal(shown(`a${mark}`), `"a\\u${code}"\n`)
  }
  const letters = '~\u00a0é\u200d\u2027\u202f\u2065\u206a漢'
  assert.equal(shown(letters), `"${letters}"\n`)
})

test('a failure with megabytes of a stranger’s text is shown in part, with what to do', () => {
  const lines = boundedFailure(
    new ServiceError('REGISTRY_REFUSED', `no\u001b[2J${'x'.repeat(1 << 20)}`, {
      facts: { reason: 'a\n'.repeat(1 << 16) },
      remedy: 'Ask again.',
    }),
  )
  assert.ok(lines.length < 10_000)
  assert.equal(lines.split('\n').length, 101)
  assert.match(lines, /^error: nox+…\n/)
  assert.match(lines, /\nWhat to do: Ask again\.$/)
})

test('a failure of a hundred lines of two thousand characters is whole, and more is cut', () => {
  const shown = (message: string): string =>
    boundedFailure(new ServiceError('REGISTRY_REFUSED', message))
  const lineOf = (count: number): string => 'x'.repeat(count - 'error: '.length)
  assert.equal(shown(lineOf(2_000)), `error: ${lineOf(2_000)}`)
  assert.equal(shown(lineOf(2_001)), `error: ${lineOf(2_000)}…`)
  const lines = (count: number): string[] => Array.from({ length: count }, (_, index) => `${index}`)
  const of = (count: number): string[] => shown(lines(count).join('\n')).split('\n')
  const [, ...rest] = lines(100)
  assert.deepEqual(of(100), ['error: 0', ...rest])
  const [, ...more] = lines(101)
  assert.deepEqual(of(101), ['error: 0', ...more.slice(0, 49), '…', ...more.slice(-50)])
})

test('a failure keeps no style of the text that it quotes', () => {
  const quoting = new ServiceError('REGISTRY_REFUSED', 'no \u001b[32mpassed\u001b[39m', {
    remedy: 'Ask\r\nagain.',
  })
  assert.equal(boundedFailure(quoting), 'error: no passed\nWhat to do: Ask\nagain.')
})

test('the exit code follows from the code of the error alone', () => {
  const codes = [
    new Error('x'),
    new ServiceError('TOOLKIT_VIEW_MISSING', ''),
    usageError('', ''),
    new ServiceError('CHAIN_UNREACHABLE', ''),
    new ServiceError('CHAIN_TIMEOUT', ''),
  ].map(exitCodeOf)
  assert.deepEqual(codes, [1, 1, 2, 3, 3])
})

test('columns of a table are as wide as their widest value', () => {
  assert.equal(tableText(['A', 'B'], [['long', 'x']]), 'A     B\nlong  x')
})

test('a value of a table makes no line of its own, and controls no terminal', () => {
  const text = tableText(['A', 'B'], [['a\nb', '\u001b[31mlive']])
  assert.equal(text, 'A    B\na b  live')
})
