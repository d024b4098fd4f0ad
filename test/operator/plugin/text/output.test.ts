import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ageOf } from '../../../../operator/plugin/text/age.ts'
import { createOutput } from '../../../../operator/plugin/text/output.ts'

test('what was asked for goes to one stream, what a person should know to the other', async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const output = createOutput({ stdout, stderr })
  output.line('asked\x1b[2J')
  output.note('beside')
  await output.raw('{"as": "it is"}\n')
  stdout.end()
  stderr.end()
  assert.equal(await text(stdout), 'asked\\u001b[2J\n{"as": "it is"}\n')
  assert.equal(await text(stderr), 'beside\n')
  assert.deepEqual([output.width, output.isTerminal], [100, false])
})

test('lines are as long as the terminal is wide that a person reads', () => {
  const stdout = Object.assign(new PassThrough(), { columns: 72, isTTY: true })
  const { width, isTerminal } = createOutput({ stdout, stderr: new PassThrough() })
  assert.deepEqual([width, isTerminal], [72, true])
})

test('something long waits until whoever reads it has room', async () => {
  const stdout = new PassThrough({ highWaterMark: 16 })
  const output = createOutput({ stdout, stderr: new PassThrough() })
  const written: string[] = []
  const first = output.next('more than sixteen bytes').then(() => written.push('first'))
  const second = first.then(() => output.next('second'))
  await setImmediate()
  assert.equal(stdout.writableNeedDrain, true)
  assert.deepEqual(written, [])
  stdout.resume()
  await second
  assert.deepEqual(written, ['first'])
})

test('spans of time are written as kubectl writes them', () => {
  const nowMs = Date.parse('2026-01-10T00:00:00Z')
  const ages = [
    ['2026-01-09T23:58:01Z', '119s'],
    ['2026-01-09T23:58:00Z', '2m'],
    ['2026-01-09T22:00:00Z', '2h'],
    ['2026-01-08T00:00:00Z', '2d'],
    ['2026-01-11T00:00:00Z', '0s'],
    ['no time', '-'],
  ] as const
  for (const [time, age] of ages) assert.equal(ageOf(time, nowMs), age)
  assert.equal(ageOf(undefined, nowMs), '-')
})
