import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileLens, lensNames } from '../../src/lenses/build.ts'
import { type Block, blocksOf, readPage } from '../docs/support/page.ts'
import { error, openModule, openSetLens, streamed, values } from './support/fed-lens.ts'

const page = 'docs/lenses.md'
const examples = blocksOf(page).filter(({ language }) => language === 'json')

test('docs/lenses.md has a section with an example for each lens that ships', () => {
  const shown = new Set(examples.flatMap(({ info }) => /^arguments (.+)$/.exec(info)?.[1] ?? []))
  assert.deepEqual([...shown].toSorted(), lensNames)
  for (const name of lensNames) assert.ok(readPage(page).includes(`\n## ${name}\n`), name)
})

for (const [at, { info, text, line }] of examples.entries()) {
  const [, name] = /^arguments (.+)$/.exec(info) ?? []
  if (name === undefined) continue
  test(`${name} makes of the documents in line ${line} what the page says`, () => {
    const documents = parsed(examples[at + 1], 'documents')
    const answers = parsed(examples[at + 2], 'answers')
    const lens = openSetLens(name, JSON.parse(text))
    assert.deepEqual(values(streamed(lens, documents)), answers)
  })
}

test('the lens that docs/lenses.md shows how to write does what the page says', async () => {
  const [example] = blocksOf(page).filter(({ language }) => language === 'ts')
  const wasm = await compileLens('shown', example?.text)
  const lens = openModule(new WebAssembly.Module(Uint8Array.from(wasm)))
  const topics = [`0x${'ab'.repeat(32)}`]
  const answers = values(streamed(lens, [{ address: '0x1', topics }, { topics: [] }]))
  assert.deepEqual(answers, [
    { address: '0x1', topicCount: 1 },
    error("the document has no field 'address': the query of the View has to select it"),
  ])
})

function parsed(block: Block | undefined, info: string): unknown[] {
  assert.equal(block?.info, info)
  return JSON.parse(block?.text ?? '')
}
