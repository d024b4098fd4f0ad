import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forwardWarnings, readError } from '../../src/devnet/program-log.ts'
import { openReadableLog } from '../../src/devnet/readable-log.ts'
import { ServiceError } from '../../src/errors.ts'

/** What is written while `write` runs, without the clock. */
function written(write: (log: ReturnType<typeof openReadableLog>) => void): string {
  let text = ''
  write(openReadableLog((line) => (text += line)))
  return text.replaceAll(/^\d\d:\d\d:\d\d /gm, '')
}

test('an event is one line: what happened, then its facts', () => {
  const facts = { node: 9, host: null, range: { from: 1 }, peers: [] }
  const text = written((log) => log.info(facts, 'blocks arrive'))
  assert.equal(text, 'blocks arrive  node 9  host -  range {"from":1}  peers []\n')
})

test('a failure is printed in full, with what to do', () => {
  const error = new ServiceError('DEVNET_PROGRAM_ENDED', 'the host ended by itself', {
    facts: { program: 'host' },
    remedy: 'Start again.',
  })
  assert.equal(
    written((log) => log.fatal({ err: error }, 'failed')),
    'fatal: failed\nerror: the host ended by itself\n  program: host\nWhat to do: Start again.\n',
  )
})

test("a program's warnings and errors are repeated until it stops, its other lines never", () => {
  const lines = ['info', 'warn', 'error'].map((level) =>
    JSON.stringify({ level, time: 'now', name: 'main', msg: `a ${level}`, peer: 'x' }),
  )
  const text = written((log) => {
    const stopping = new AbortController()
    const forward = forwardWarnings('host', { log, signal: stopping.signal })
    for (const line of [...lines, 'plain text']) forward(line)
    stopping.abort()
    for (const line of lines) forward(line)
  })
  assert.equal(text, 'warn: host: a warn  peer x\nerror: host: a error  peer x\n')
})

test("an error in a program's log is printed with its cause and remedy, and no stack of ours", (t) => {
  const err = {
    name: 'ServiceError',
    code: 'STORE_FULL',
    message: 'disk full',
    remedy: 'Make room.',
    cause: { name: 'Error', message: 'ENOSPC' },
  }
  const line = JSON.stringify({ level: 'error', msg: 'write failed', err })
  assert.equal(
    written((log) => forwardWarnings('host', { log, signal: t.signal })(line)),
    'error: host: write failed\nerror: disk full\n  because: ENOSPC\nWhat to do: Make room.\n',
  )
})

test("an error in a program's log has the stack that was logged, or none", () => {
  const plain = { name: 'Error', message: 'ENOSPC' }
  assert.equal(readError(plain).stack, undefined)
  assert.equal(
    readError({ ...plain, stack: 'Error: ENOSPC\n    at there' }).stack,
    'Error: ENOSPC\n    at there',
  )
})

test('what a program logs as its error and is none is repeated as text', (t) => {
  const lines = [null, 'no room'].map((err) => JSON.stringify({ level: 'warn', msg: 'full', err }))
  const text = written((log) => {
    for (const line of lines) forwardWarnings('host', { log, signal: t.signal })(line)
  })
  assert.equal(text, 'warn: host: full\nerror: null\nwarn: host: full\nerror: no room\n')
})
