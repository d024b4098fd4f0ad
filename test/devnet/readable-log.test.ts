import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openReadableLog } from '../../src/devnet/readable-log.ts'
import { tellTrouble } from '../../src/devnet/troubles.ts'
import { ServiceError } from '../../src/errors.ts'

/** What is written while `write` runs, without the clock. */
function written(write: (log: ReturnType<typeof openReadableLog>) => void): string {
  let text = ''
  write(openReadableLog((line) => (text += line)))
  return text.replaceAll(/^\d\d:\d\d:\d\d /gm, '')
}

test('an event is one line: what happened, then its facts', () => {
  const text = written((log) => log.info({ node: 9, host: null }, 'blocks arrive'))
  assert.equal(text, 'blocks arrive  node 9  host -\n')
})

test('a failure is told in full, with what to do', () => {
  const error = new ServiceError('DEVNET_PROGRAM_ENDED', 'the host ended by itself', {
    facts: { program: 'host' },
    remedy: 'Start again.',
  })
  assert.equal(
    written((log) => log.fatal({ err: error }, 'failed')),
    'fatal: failed\nerror: the host ended by itself\n  program: host\nWhat to do: Start again.\n',
  )
})

test("a program's warnings and errors are repeated, its other lines are not", () => {
  const lines = ['info', 'warn', 'error'].map((level) =>
    JSON.stringify({ level, time: 'now', name: 'main', msg: `a ${level}`, peer: 'x' }),
  )
  const text = written((log) => {
    for (const line of [...lines, 'plain text']) tellTrouble('host', line, log)
  })
  assert.equal(text, 'warn: host: a warn  peer x\nerror: host: a error  peer x\n')
})
