/** What Views and lenses of a project may be called: both become parts of paths. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkLensLabel,
  checkViewName,
  isLensLabel,
  isViewName,
} from '../../../src/toolkit/project/names.ts'

test('a label of a lens has dots within, one by one, and none at its ends', () => {
  for (const label of ['a', '7', 'a.b', 'a.b.c', 'a_b-c', 'x'.repeat(64)]) {
    assert.equal(isLensLabel(label), true, label)
    checkLensLabel(label)
  }
  const refused = ['', '.a', 'a.', 'a..b', '-a', '_a', 'a/b', 'a b', 'x'.repeat(65)]
  for (const label of refused) {
    assert.equal(isLensLabel(label), false, label)
    assert.throws(() => checkLensLabel(label), {
      code: 'TOOLKIT_USAGE_INVALID',
      message: `${JSON.stringify(label)} cannot be the label of a lens`,
    })
  }
})

test('a name of a View begins with a letter and has no dots', () => {
  for (const name of ['a', 'Ab_c-7', 'x'.repeat(64)]) {
    assert.equal(isViewName(name), true, name)
    checkViewName(name)
  }
  for (const name of ['', '7', '_a', 'a.b', 'a/b', 'x'.repeat(65)]) {
    assert.equal(isViewName(name), false, name)
    assert.throws(() => checkViewName(name), {
      code: 'TOOLKIT_USAGE_INVALID',
      message: `${JSON.stringify(name)} cannot be the name of a View`,
    })
  }
})
