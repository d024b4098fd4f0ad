/** What is remembered of a file of signers, and when it is written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rememberSigners, type SignersFile } from '../../../src/host/trust/signers-file.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openTestStore } from '../../support/test-store.ts'

const fileOf = (path: string, values: readonly string[]): SignersFile => ({
  path,
  values: () => values,
  problem: () => null,
})

/** Opens the memory of a file; returns what it says, and how often that was written. */
async function open(
  store: StoreWriter,
  file: SignersFile | null,
): Promise<readonly [values: readonly string[], writes: number]> {
  let writes = 0
  const putRecord: StoreWriter['putRecord'] = (...record) => {
    writes += 1
    return store.putRecord(...record)
  }
  const onFatal = (error: unknown): void => assert.fail(String(error))
  const opened = rememberSigners('a-file', file, {
    writer: { putRecord },
    reader: store.reader,
    onFatal,
  })
  await store.flushed()
  return [opened?.values() ?? [], writes]
}

test('a list is remembered of the file that it was in, and of no other', async (t) => {
  const store = await openTestStore(t)
  await open(store, fileOf('/signers', ['a', 'b']))
  assert.deepEqual(await open(store, fileOf('/signers', [])), [['a', 'b'], 0])
  assert.deepEqual(await open(store, fileOf('/others', [])), [[], 0])
})

test('a list is written where it is another one than before, and forgotten once', async (t) => {
  const store = await openTestStore(t)
  const file = fileOf('/signers', ['a', 'b'])
  assert.deepEqual(await open(store, null), [[], 0])
  assert.deepEqual(await open(store, file), [['a', 'b'], 1])
  assert.deepEqual(await open(store, file), [['a', 'b'], 0])
  assert.deepEqual(await open(store, fileOf('/signers', ['c'])), [['c'], 1])
  assert.deepEqual(await open(store, null), [[], 1])
  assert.deepEqual(await open(store, null), [[], 0])
})
