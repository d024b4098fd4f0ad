import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { lensHash } from '../../src/views/lens-hash.ts'
import { parseRowType } from '../../src/views/row-type.ts'
import { perBlockRemedy, type ViewWarning, viewWarnings } from '../../src/views/view-warnings.ts'

/** The warnings of a View with these lenses of ours; `foreign` is somebody else's. */
function warningsOf(sdl: string, names: readonly string[]): readonly ViewWarning[] {
  const lenses = names.map((name) => {
    const wasm =
      name === 'foreign'
        ? Uint8Array.of(0)
        : readFileSync(new URL(`../../src/lenses/${name}.wasm`, import.meta.url))
    return { hash: lensHash(wasm), bytes: wasm.length, args: '' }
  })
  return viewWarnings({ rowType: parseRowType(sdl), lenses })
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

test('a lens that asks for a stream gets a warning that it may add up', () => {
  const [warning] = warningsOf(streamed, ['foreign'])
  assert.match(warning?.message ?? '', /^the type asks for "feed: stream", so that its lenses may/)
  assert.deepEqual(
    warningsOf(streamed.replace('Balance', 'Balance @materialized(if: false)'), ['foreign']),
    [],
  )
})

test('other Views get no warnings', () => {
  for (const lenses of [[], ['foreign'], ['decode_log', 'filter'], ['erc20_transfers']])
    assert.deepEqual(warningsOf(stored, lenses), [])
  assert.deepEqual(warningsOf(streamed, []), [])
})
