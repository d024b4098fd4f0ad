/** What is known of a View from its bytes and who registered them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lensHash } from '../../src/views/lens-hash.ts'
import { type RegisteredView, readRegistration } from '../../src/views/registration.ts'
import { parseRowType } from '../../src/views/rows/row-type.ts'
import type { View } from '../../src/views/view.ts'
import { parseViewQuery } from '../../src/views/view-query.ts'
import { decodeView } from '../../src/views/wire.ts'
import { second } from './vectors.ts'

const network = 'Ethereum__Mainnet'
const wire = Buffer.from(second.wire, 'hex')
const decoded = decodeView(wire)
const facts = { id: 'kept', address: 'kept as well', lenses: [] }

/** The vector's View with some of its parts replaced. */
function registered(change: Partial<View> = {}): RegisteredView {
  const registration = { sender: `0x${'aB'.repeat(20)}`, registeredAt: 7, wire }
  return readRegistration(registration, { ...decoded, ...change }, network, facts)
}

test('a registration has both IDs, its texts, what they say, and hash and size of each lens', () => {
  const query = parseViewQuery(decoded.query, network)
  assert.ok('selection' in query)
  const read = readRegistration(
    { sender: second.sender, registeredAt: null, wire },
    decoded,
    network,
  )
  assert.deepEqual(JSON.parse(JSON.stringify(read)), {
    ...JSON.parse(JSON.stringify({ query, rowType: parseRowType(decoded.sdl), wire })),
    id: second.id,
    address: second.address,
    lenses: decoded.lenses.map(({ wasm, args }) => ({
      hash: lensHash(wasm),
      bytes: wasm.length,
      args,
    })),
    sender: second.sender,
    registeredAt: null,
    sdl: decoded.sdl,
    queryText: decoded.query,
    foreign: null,
  })
})

test('what was kept of a registration is taken as it is, and its sender in small letters', () => {
  const { id, address, lenses, registeredAt, sender } = registered()
  const small = `0x${'ab'.repeat(20)}`
  assert.deepEqual({ id, address, lenses }, facts)
  assert.deepEqual({ registeredAt, sender }, { registeredAt: 7, sender: small })
})

test('a View of another chain is read without what it may ask of this one', () => {
  const { query, foreign } = registered({ query: 'Arbitrum__One__Log(limit: 1) { data }' })
  assert.deepEqual({ query, foreign }, { query: null, foreign: 'Arbitrum__One__Log' })
})

test('only a View whose rows are stored may not ask for what means nothing of a block alone', () => {
  const limited = { query: 'Log(limit: 1) { data }', sdl: 'type V { x: Int }' }
  assert.throws(() => registered(limited), { code: 'VIEWS_QUERY_INVALID' })
  const sdl = 'type V @materialized(if: false) { x: Int }'
  assert.equal(registered({ ...limited, sdl }).query?.collection, 'Log')
})

test('arguments of a lens are a JSON object or nothing, and others are refused by its number', () => {
  const lenses = (args: string): View['lenses'] =>
    ['{}', args].map((text) => ({ wasm: Uint8Array.of(1), args: text }))
  for (const args of ['', '{}', ' {"a": [1]}']) assert.ok(registered({ lenses: lenses(args) }))
  for (const args of ['[]', '7', 'null', '"text"', '{', ' '])
    assert.throws(() => registered({ lenses: lenses(args) }), {
      code: 'VIEWS_ARGUMENTS_INVALID',
      message: 'the arguments of lens 2 are not a JSON object',
      facts: { lens: 2 },
    })
})
