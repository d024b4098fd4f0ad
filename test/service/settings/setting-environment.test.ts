import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEnvironment } from '../../../src/service/settings/setting-environment.ts'
import { integerBetween } from '../../../src/service/settings/setting-kinds.ts'

const table = {
  views: { key: 'views.max', env: 'MAX_VIEWS', kind: integerBetween(0), doc: 'How many.' },
}
const nothing = { values: new Map(), problems: [], broken: new Set() }

test('a setting that is no secret is not read from a file', () => {
  assert.deepEqual(readEnvironment(table, { MAX_VIEWS_FILE: '/nonexistent' }), nothing)
})

test('names of eight letters are compared with ours, and shorter ones are anybody’s', () => {
  assert.deepEqual(readEnvironment(table, { MAX_VIEW: '1' }), {
    ...nothing,
    problems: ['MAX_VIEW is not a variable of ours; did you mean MAX_VIEWS?'],
  })
  assert.deepEqual(readEnvironment(table, { MAX_VIW: '1' }), nothing)
})
