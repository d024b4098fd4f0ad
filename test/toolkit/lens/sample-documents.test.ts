import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { defaultQuery, sampleDocuments } from '../../../src/toolkit/lens/sample-documents.ts'
import { testDirectory } from '../../support/test-store.ts'

test('a lens is given what the query selects of all blocks that ship, and no folder stays', async (t) => {
  const { TMPDIR: before = '' } = process.env
  const folder = testDirectory(t)
  process.env['TMPDIR'] = folder
  t.after(() => {
    process.env['TMPDIR'] = before
  })
  const documents = (await sampleDocuments(defaultQuery)).map((text) => JSON.parse(text))
  const blocks = documents.map(({ blockNumber }) => blockNumber)
  assert.deepEqual([...new Set(blocks)], [21_000_000, 21_000_001, 21_000_002])
  assert.equal(documents.length, 22)
  const hashes = await sampleDocuments('Transaction { hash }')
  assert.equal(hashes.length, 14)
  assert.match(hashes[0] ?? '', /^\{"hash":"0x[0-9a-f]{64}"\}$/)
  assert.deepEqual(readdirSync(folder), [])
})

test('a query that selects nothing of the samples is refused', async () => {
  for (const query of [
    'Arbitrum__One__Log { address }',
    'Log(filter: {address: {_eq: "0x01"}}) { address }',
  ])
    await assert.rejects(sampleDocuments(query), {
      code: 'TOOLKIT_FIXTURE_INVALID',
      message: `the samples have no document for ${query}`,
    })
  const long = `Log(filter: {address: {_eq: "0x${'1'.repeat(300)}"}}) { address }`
  await assert.rejects(sampleDocuments(long), {
    message: `the samples have no document for ${long.slice(0, 200)}`,
  })
})
