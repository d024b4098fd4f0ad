import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { lensHash } from '../../src/views/lens-hash.ts'
import { parseRowType } from '../../src/views/rows/row-type.ts'
import { shippedLenses } from '../../src/views/shipped-lenses.ts'
import { parseViewQuery } from '../../src/views/view-query.ts'
import { perBlockRemedy, type ViewWarning, viewWarnings } from '../../src/views/view-warnings.ts'
import { testNetwork } from '../support/chain/sealed-blocks.ts'

/** The warnings of a View with these lenses of ours; `foreign` is somebody else's. */
function warningsOf(
  sdl: string,
  names: readonly string[],
  text = 'Log { account: address }',
): readonly ViewWarning[] {
  const lenses = names.map((name) => {
    const wasm =
      name === 'foreign'
        ? Uint8Array.of(0)
        : readFileSync(new URL(`../../src/lenses/${name}.wasm`, import.meta.url))
    return { hash: lensHash(wasm), bytes: wasm.length, args: '' }
  })
  const query = parseViewQuery(text, testNetwork)
  return viewWarnings({
    ...{ rowType: parseRowType(sdl), lenses },
    query: 'foreign' in query ? null : query,
  })
}

const stored = 'type Balance { account: String }'
const asked = 'type Balance @materialized(if: false) { account: String }'
const streamed = '"feed: stream" type Balance { account: String }'

test('a lens of ours that adds up gets a warning where rows are stored, with its place', () => {
  assert.deepEqual(warningsOf(stored, ['filter', 'erc20_balances']), [
    {
      code: 'AGGREGATES_PER_BLOCK',
      message:
        'lens 2 adds up: in stored rows the end of the stream is that of each block, so that sums are of one block, not of the chain',
      remedy: perBlockRemedy,
    },
  ])
  const [alone, ...others] = warningsOf(stored, ['erc20_balances'])
  assert.match(`${alone?.message}`, /^lens 1 adds up: /)
  assert.deepEqual(others, [])
  assert.deepEqual(warningsOf(asked, ['erc20_balances']), [])
})

test('an earlier build of a lens that adds up gets the warning of the present one', () => {
  const lenses = [{ hash: '0x01', bytes: 1, args: '' }]
  const view = { rowType: parseRowType(stored), lenses, query: null }
  assert.deepEqual(viewWarnings(view), [])
  const ours = new Map([...shippedLenses, ['0x01', 'erc20_balances']])
  assert.deepEqual(viewWarnings(view, ours), warningsOf(stored, ['erc20_balances']))
})

test('a lens that asks for a stream gets a warning that it may add up', () => {
  const [warning] = warningsOf(streamed, ['foreign'])
  assert.match(warning?.message ?? '', /^the type asks for "feed: stream", so that its lenses may/)
  assert.deepEqual(
    warningsOf(streamed.replace('Balance', 'Balance @materialized(if: false)'), ['foreign']),
    [],
  )
})

test('fields that nothing can fill get a warning where no lens makes other fields', () => {
  const sdl = 'type Seen { address: String hash: String value: String }'
  const never = {
    code: 'FIELDS_NEVER_FILLED',
    message: 'the query does not select hash, value, and no lens makes it: it is null in every row',
    remedy:
      'Select it in the query, by an alias where it has another name there, or leave it out of the SDL.',
  }
  const query = 'Log { address transaction { hash value } }'
  for (const lenses of [[], ['filter'], ['filter_transaction', 'filter']])
    assert.deepEqual(warningsOf(sdl, lenses, query), [never])
  for (const lenses of [['decode_log'], ['filter', 'foreign']])
    assert.deepEqual(warningsOf(sdl, lenses, query), [])
  const renamed = 'Log { address hash: blockHash value: data }'
  assert.deepEqual(warningsOf(sdl, [], renamed), [])
  assert.deepEqual(warningsOf(sdl, [], 'Arbitrum__One__Log { address }'), [])
})

test('other Views get no warnings', () => {
  for (const lenses of [[], ['foreign'], ['decode_log', 'filter'], ['erc20_transfers']])
    assert.deepEqual(warningsOf(stored, lenses), [])
  assert.deepEqual(warningsOf(streamed, []), [])
})
