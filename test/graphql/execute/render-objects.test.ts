import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ObjectColumn,
  renderObjects,
  writeObjects,
} from '../../../src/graphql/execute/render-objects.ts'
import { putText } from '../../../src/graphql/rows/write-value.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { createTestBudget } from '../support/graphql-room.ts'

/** An item is what stands under `own`; what is nested below it is one text for each. */
type Item = string

const own: ObjectColumn<Item> = {
  key: 'own',
  write: (out, item) => putText(out, JSON.stringify(item)),
}

function nested(key: string, texts: readonly string[]): ObjectColumn<Item> {
  return { key, texts: async () => texts }
}

/** The objects as texts of their own, and as they are cut from one buffer that they share. */
async function bothWays(
  items: readonly Item[],
  columns: readonly ObjectColumn<Item>[],
): Promise<{ texts: string[]; cuts: string[]; released: Item[] }> {
  const released: Item[] = []
  const release = (item: Item): void => void released.push(item)
  const texts = await renderObjects(createTestBudget(), items, columns, release)
  const out = createByteWriter(16)
  putText(out, 'before')
  const ends = await writeObjects(createTestBudget(), items, columns, release, out)
  const starts = [6, ...ends]
  const cuts = ends.map((end, index) => out.bytes.toString('utf8', starts[index], end))
  return { texts, cuts, released }
}

test('objects have their fields in order, those nested below among them, each item released once', async () => {
  const columns = [nested('first', ['[1]', '[2]']), own, nested('last', ['{}', 'null'])]
  const { texts, cuts, released } = await bothWays(['a', 'ü'], columns)
  assert.deepEqual(texts, [
    '{"first":[1],"own":"a","last":{}}',
    '{"first":[2],"own":"ü","last":null}',
  ])
  assert.deepEqual(cuts, texts)
  assert.deepEqual(released, ['a', 'ü', 'a', 'ü'])
  assert.deepEqual((await bothWays(['a'], [])).texts, ['{}'])
  assert.deepEqual((await bothWays([], columns)).texts, [])
})

test('what is nested may be of any length, and stands where it belongs', async () => {
  for (const length of [2, 4 * 1024, 4 * 1024 + 1, 500_000]) {
    const long = `"${'ä'.repeat(length - 2)}"`
    const columns = [own, nested('long', [long, '1']), nested('both', ['2', long]), own]
    const { texts, cuts } = await bothWays(['a', 'b'], columns)
    assert.deepEqual(texts, [
      `{"own":"a","long":${long},"both":2,"own":"a"}`,
      `{"own":"b","long":1,"both":${long},"own":"b"}`,
    ])
    assert.deepEqual(cuts, texts)
  }
})

test('an object of many own bytes leaves nothing of itself in the next one', async () => {
  const large = 'x'.repeat(400_000)
  const { texts } = await bothWays(['a', large, 'b'], [own])
  assert.deepEqual(texts, ['{"own":"a"}', `{"own":"${large}"}`, '{"own":"b"}'])
})

test('an object counts with its own bytes and a comma, and what is nested in it not once more', async () => {
  const budget = createTestBudget()
  const columns = [nested('first', ['[1]', '[2]']), own]
  await renderObjects(budget, ['a', 'ü'], columns, () => undefined)
  const counted = '{"first":,"own":"a"},{"first":,"own":"ü"},'
  assert.equal(budget.usage().bytes, Buffer.byteLength(counted))
})
