import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Logger } from 'pino'
import { ServiceError } from '../../src/errors.ts'
import { type LogOptions, openLog } from '../../src/service/log.ts'

interface Lines {
  readonly log: Logger
  readonly text: () => string
  readonly lines: () => Record<string, unknown>[]
}

function open(options: Partial<LogOptions> = {}): Lines {
  let text = ''
  const destination = {
    write(line: string): void {
      text += line
    },
  }
  const log = openLog({ name: 'host', level: 'info', pretty: false, ...options }, destination)
  const lines = (): Record<string, unknown>[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  return { log, text: () => text, lines }
}

test('in a pipe each line is one JSON object: level by name, UTC time, program, facts, message', () => {
  const { log, lines } = open()
  log.info({ height: 7, txs: 2 }, 'block sealed')
  log.debug('not at this level')
  const [{ time, ...line } = {}, ...others] = lines()
  assert.deepEqual(line, { level: 'info', name: 'host', height: 7, txs: 2, msg: 'block sealed' })
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(others, [])
})

test('on a terminal a line is for people: time, level, program, message, facts', () => {
  const { log, text } = open({ pretty: true })
  log.warn({ url: 'ws://node' }, 'WebSocket unavailable, will use HTTP-only mode')
  assert.match(
    text(),
    /^\[\d\d:\d\d:\d\d\] WARN: host: WebSocket unavailable, will use HTTP-only mode .*"url":"ws:\/\/node"/,
  )
})

const secret = 'a "secret" of the keyring'

test('a value given as secret never appears, wherever it was written, in lines of both forms', () => {
  for (const pretty of [false, true]) {
    const { log, text } = open({ secrets: [secret], pretty })
    const error = new Error(`cannot use ${secret}`, { cause: new Error(secret) })
    log.info({ any: { deep: [secret] }, url: `http://node/?key=${secret}` }, `with ${secret}`)
    log.child({ bound: secret }).error({ err: error }, 'failed')
    assert.ok(!text().includes(secret))
    assert.ok(!text().includes(JSON.stringify(secret).slice(1, -1)))
    assert.doesNotMatch(text(), /a\[redacted\]|\[redacted\]g/, 'nor its first or last letter')
    assert.equal(text().split('[redacted]').length - 1 >= 6, true)
  }
})

test('fields that hold secrets by their name are hidden down to the third level', () => {
  const { log, text, lines } = open()
  const hidden = 'must-not-be-seen'
  log.info(
    {
      keyringSecret: hidden,
      options: { apiKey: hidden, headers: { authorization: hidden, 'x-api-key': hidden } },
      signer: { privateKey: hidden },
      token: hidden,
      peerSeed: { seed: hidden },
    },
    'started',
  )
  assert.ok(!text().includes(hidden))
  assert.equal(lines()[0]?.['token'], '[redacted]')
})

test('each of these names hides its value, on each of three levels', () => {
  const names = ['secret', 'keyringSecret', 'privateKey', 'seed', 'password', 'apiKey', 'apiKeys']
  names.push('token', 'authToken', 'adminToken', 'authorization', 'Authorization')
  names.push('x-api-key', 'X-Api-Key')
  for (const name of names) {
    const { log, lines } = open()
    const fields = { [name]: 'hidden', other: 'shown' }
    log.info({ ...fields, a: { ...fields, b: fields } }, 'started')
    const shown = { [name]: '[redacted]', other: 'shown' }
    const { time: _, ...line } = lines()[0] ?? {}
    const rest = { level: 'info', name: 'host', msg: 'started' }
    assert.deepEqual(line, { ...rest, ...shown, a: { ...shown, b: shown } })
  }
})

test('values of eight characters are secrets, those of seven are not', () => {
  const { log, lines } = open({ secrets: ['12345678', 'abcdefg'] })
  log.info('with 12345678 and abcdefg')
  assert.equal(lines()[0]?.['msg'], 'with [redacted] and abcdefg')
})

test('a short value is not taken for a secret, or lines would be torn apart', () => {
  const { log, lines } = open({ secrets: ['info', ''] })
  log.info('started')
  assert.equal(lines()[0]?.['level'], 'info')
})

test('a failure with a remedy is logged without stacks; a foreign one keeps its stack and causes', () => {
  const { log, lines } = open()
  const remedy = 'Stop the other program.'
  const cause = Object.assign(new Error('address in use'), { code: 'EADDRINUSE' })
  const facts = { port: 8080, height: 7n }
  log.error(
    { err: new ServiceError('CONFIG_INVALID', 'taken', { facts, remedy, cause }) },
    'failed',
  )
  log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed')
  const [ours, foreign] = lines().map(({ err }) => err as Record<string, unknown>)
  assert.deepEqual(ours, {
    name: 'ServiceError',
    code: 'CONFIG_INVALID',
    message: 'taken',
    facts: { port: 8080, height: 7 },
    remedy,
    cause: { name: 'Error', code: 'EADDRINUSE', message: 'address in use' },
  })
  assert.match(String(foreign?.['stack']), /log\.test\.ts/)
  assert.match(JSON.stringify(foreign?.['cause']), /"message":"inner"/)
})
