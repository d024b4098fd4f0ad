/** What the schema says of a View. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewEntity } from '../../../src/graphql/catalog/view-entity.ts'
import type { BlockView } from '../../../src/graphql/rows/block-view.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'

const id = `0x${'ab'.repeat(32)}`

test('a View is described by the words in its SDL, or by its IDs where there are none', () => {
  const descriptionOf = (sdl: string, ids: { id: string; address?: string } = { id }): string => {
    const view = { ...ids, name: 'Payments', slot: 1, rowType: parseRowType(sdl), query: null }
    return viewEntity(view, null).description
  }
  const type = 'type Payment { to: String }'
  assert.equal(descriptionOf(`"""\n  Who was paid.\n"""\n${type}`), 'Who was paid.')
  assert.equal(descriptionOf(`"  " ${type}`), `Rows of the View ${id}.`)
  assert.equal(descriptionOf(type), `Rows of the View ${id}.`)
  const address = `0x${'cd'.repeat(20)}`
  assert.equal(descriptionOf(type, { id, address }), `Rows of the View ${id} (${address}).`)
})

test('a field of a View is described by the words in its SDL, or by its name without them', () => {
  const sdl = 'type Payment { "\\n Who was paid. " to: String "  " from: String at: Int }'
  const view = { id, name: 'Payments', slot: 1, rowType: parseRowType(sdl), query: null }
  const { attributes } = viewEntity(view, null)
  assert.deepEqual(
    ['to', 'from', 'at'].map((name) => attributes.get(name)?.description),
    ['Who was paid.', 'The field from of the View.', 'The field at of the View.'],
  )
})

test('no stored block has rows of a View that is computed for each query', () => {
  const rowType = parseRowType('type Payment { to: String }')
  const stream = () => assert.fail('nothing is computed')
  const view = { id, name: 'Payments', slot: 1, rowType, query: null, stream }
  assert.equal(viewEntity(view, null).rowsIn({} as BlockView), 0)
})
