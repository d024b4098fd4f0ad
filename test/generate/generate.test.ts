import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differingFiles } from './generated-files.ts'
import { readSection, withSection } from './section-text.ts'

test('every generated file is what the code makes; npm run generate makes it so', async () => {
  assert.deepEqual(await differingFiles(), [])
})

test('a section is replaced between its markers, and a missing marker is refused', () => {
  const text = 'a\n<!-- begin one -->\nold\n<!-- end one -->\nb\n'
  assert.equal(readSection(text, 'one'), 'old')
  assert.equal(withSection(text, 'one', 'new'), 'a\n<!-- begin one -->\nnew\n<!-- end one -->\nb\n')
  assert.throws(() => withSection(text, 'two', ''), /no section "two"/)
})
