import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differingFiles } from './generated-files.ts'
import { readSection, withSection } from './section-text.ts'
import { tableText } from './shipped-lenses.ts'

test('every generated file is what the code makes; npm run generate makes it so', async () => {
  assert.deepEqual(await differingFiles(), [])
})

test('a section is replaced between its markers, and a missing marker is refused', () => {
  const text = 'a\n<!-- begin one -->\nold\n<!-- end one -->\nb\n'
  assert.equal(readSection(text, 'one'), 'old')
  assert.equal(withSection(text, 'one', 'new'), 'a\n<!-- begin one -->\nnew\n<!-- end one -->\nb\n')
  assert.throws(() => withSection(text, 'two', ''), /no section "two"/)
})

test('the table of lenses keeps the hash of each earlier build when a lens is built anew', () => {
  const before = new Map([
    ['0x01', 'decode_log'],
    ['0x02', 'filter'],
  ])
  const rebuilt = new Map([
    ['0x03', 'decode_log'],
    ['0x02', 'filter'],
    ['0x04', 'erc20_balances'],
  ])
  const entries = (text: string) =>
    [...text.matchAll(/\['(.*)', '(.*)'\]/g)].map(([, hash, name]) => [hash, name] as const)
  const text = tableText(before, rebuilt)
  const kept = [
    ['0x01', 'decode_log'],
    ['0x03', 'decode_log'],
    ['0x04', 'erc20_balances'],
    ['0x02', 'filter'],
  ] as const
  assert.deepEqual(entries(text), kept)
  assert.equal(tableText(new Map(kept), rebuilt), text)
  assert.equal(tableText(new Map(kept), new Map([['0x03', 'decode_log']])), text)
})
