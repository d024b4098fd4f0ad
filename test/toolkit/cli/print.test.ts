import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import { exitCodeOf, usageError } from '../../../src/toolkit/cli/exit-code.ts'
import { openProgressLine, remark, toSingleLine } from '../../../src/toolkit/cli/print.ts'
import { tableText } from '../../../src/toolkit/cli/table.ts'

function terminalTo(written: string[], isTTY: boolean) {
  const output = { write: (text: string) => written.push(text), isTTY, columns: 20 }
  return {
    ...{ stdin: Readable.from([]), stdout: output, stderr: output, env: {} },
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

test('text of strangers moves no cursor and turns no direction', () => {
  assert.equal(toSingleLine('a\u001b[31mb\u001b]0;title\u0007c\nd\u202ee'), 'abc d e')
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
