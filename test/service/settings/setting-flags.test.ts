import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFlags } from '../../../src/service/settings/setting-flags.ts'
import { text } from '../../../src/service/settings/setting-kinds.ts'

const table = { note: { key: 'note', env: 'NOTE', kind: text('any text'), doc: 'A note.' } }

test('what follows the value of a flag is no part of it', () => {
  for (const argv of [
    ['--note=a', 'b'],
    ['--note', 'a', 'b'],
  ]) {
    const { values, problems } = readFlags(table, argv)
    assert.deepEqual(values.get('note'), { value: 'a', origin: 'flag', place: '--note' })
    assert.deepEqual(problems, ['b: this command takes only flags'])
  }
})

test('a flag that is like none of the command is refused without a suggestion', () => {
  assert.deepEqual(readFlags(table, ['--else', 'a']).problems, [
    '--else is not a flag of this command',
  ])
})
