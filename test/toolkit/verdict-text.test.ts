import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verdictJson, verdictText } from '../../src/toolkit/verdict-text.ts'

const failure = { code: 'cid-wrong', message: 'No.' } as const
const verdict = { proves: 'nothing', failure } as const

test('a document is named by its place in the answer, and the answer itself where it is that', () => {
  const placeOf = (...path: (string | number)[]): string =>
    verdictText({ path, verdict }).replace(': not proven (cid-wrong): No.', '')
  assert.equal(placeOf(), 'the answer')
  assert.equal(placeOf('data', 'Log', 0, 'block'), 'data.Log[0].block')
  assert.equal(placeOf(3, 'a'), '[3].a')
  assert.equal(placeOf('a b'), '"a b"')
  assert.equal(placeOf('x'.repeat(100)), 'x'.repeat(100))
  assert.equal(placeOf('x'.repeat(101)), `"${'x'.repeat(100)}"`)
})

test('a name that would control a terminal is escaped, for people and for programs', () => {
  const path = ['\u001b[2J\u009b\u202eé']
  const escaped = '"\\u001b[2J\\u009b\\u202e\\u00e9"'
  assert.equal(verdictText({ path, verdict }).split(':')[0], escaped)
  const json = verdictJson({ path, verdict })
  assert.equal(
    json,
    `{"path":[${escaped}],"proves":"nothing","failure":${JSON.stringify(failure)}}`,
  )
})
