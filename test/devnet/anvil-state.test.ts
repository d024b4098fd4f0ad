import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { anvilState, prepareState } from '../../src/devnet/anvil-state.ts'

const directory = await mkdtemp(join(tmpdir(), 'viewmesh-state-'))
const path = anvilState(directory)
after(() => rm(directory, { recursive: true }))

const block = (number: number, timestamp: number) => ({
  header: { number: `0x${number.toString(16)}`, timestamp: `0x${timestamp.toString(16)}` },
})

test('there is nothing to go on with where the state is missing, cut short or something else', async () => {
  assert.equal(prepareState(directory), false)
  const later = JSON.stringify({ blocks: [block(1, 101)] })
  for (const text of [
    '{"blocks": [',
    '7',
    'null',
    '{}',
    '{"blocks": {}}',
    '{"blocks": []}',
    later,
  ]) {
    await writeFile(path, text)
    assert.equal(prepareState(directory), false)
  }
})

test('of several blocks 0 only the first that was made stays, so that the genesis stays the same', async () => {
  const first = block(0, 100)
  const blocks = [block(0, 300), block(2, 102), first, block(1, 101), block(0, 200)]
  await writeFile(path, JSON.stringify({ accounts: {}, blocks }))
  assert.equal(prepareState(directory), true)
  assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), {
    accounts: {},
    blocks: [block(2, 102), first, block(1, 101)],
  })
})

test('a state with one block 0 stays as it is, to the byte', async () => {
  const text = JSON.stringify({ blocks: [block(0, 100)] }, null, 1)
  await writeFile(path, text)
  assert.equal(prepareState(directory), true)
  assert.equal(await readFile(path, 'utf8'), text)
})
