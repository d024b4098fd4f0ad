/** The body that posts a View, in either form; anything else is refused with the field and what is accepted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { maxViewBody, readViewRequest } from '../../../src/host/views/view-request.ts'
import { viewLimits } from '../../../src/views/view.ts'
import { noSender } from '../../../src/views/view-id.ts'
import { decodeView, encodeView } from '../../../src/views/wire.ts'

const wasm = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)
const view = { query: 'Log { address }', sdl: 'type A { address: String }' }

test('a View is posted by its wire bytes, as base64 or hex', () => {
  const wire = encodeView({ ...view, lenses: [{ wasm, args: '' }] })
  for (const text of [
    Buffer.from(wire).toString('base64'),
    `0x${Buffer.from(wire).toString('hex')}`,
  ])
    assert.deepEqual(readViewRequest({ wire: text }), {
      sender: noSender,
      registeredAt: null,
      wire: new Uint8Array(wire),
    })
})

test('a View is posted by its parts, and arguments as text stay as they are', () => {
  const sender = `0x${'Ab'.repeat(20)}`
  const lens = { wasm: Buffer.from(wasm).toString('base64') }
  const some = [null, { a: '1' }, '{ "a": "1" }'].map((args) => ({ ...lens, args }))
  const lenses = [lens, ...some]
  const registration = readViewRequest({ ...view, lenses, sender })
  assert.equal(registration.sender, sender)
  const read = decodeView(registration.wire)
  assert.deepEqual([read.query, read.sdl], [view.query, view.sdl])
  assert.deepEqual(
    read.lenses.map((each) => each.args),
    ['', '', '{"a":"1"}', '{ "a": "1" }'],
  )
  for (const each of read.lenses) assert.deepEqual(new Uint8Array(each.wasm), wasm)
})

test('a body has room for the largest modules as base64, and 4 MiB beside them', () => {
  const modules = Buffer.alloc(viewLimits.blob).toString('base64').length
  assert.equal(Math.ceil(maxViewBody / 4) * 4, modules + 4 * 1024 * 1024)
})

const refusals: readonly (readonly [string, unknown, RegExp])[] = [
  ['no object', [], /^the body: accepted is a JSON object$/],
  ['an unknown field', { wires: '' }, /^the field wires: accepted is one of wire, sender, /],
  ['no base64', { wire: 'VldM#' }, /^wire: accepted is base64 with padding, or 0x and hex$/],
  ['nothing', { wire: '' }, /^wire: /],
  [
    'a sender that is no address',
    { wire: 'VldM', sender: '0x12' },
    /^sender: accepted is an address/,
  ],
  ['no query', { sdl: 'type A { a: String }' }, /^query: accepted is text/],
  ['lenses that are no list', { ...view, lenses: {} }, /^lenses: accepted is a list$/],
  [
    'a lens that is no object',
    { ...view, lenses: [1] },
    /^lenses\[0\]: accepted is a JSON object$/,
  ],
  ['a lens without module', { ...view, lenses: [{}] }, /^lenses\[0\]\.wasm: accepted is base64/],
  [
    'arguments that are a list',
    { ...view, lenses: [{ wasm: 'AGFzbQ==', args: [] }] },
    /^lenses\[0\]\.args: accepted is a JSON object$/,
  ],
]

for (const [what, body, message] of refusals)
  test(`a body with ${what} is refused`, () => {
    assert.throws(() => readViewRequest(body), { code: 'HOST_VIEW_REFUSED', message })
  })

test('whatever JSON is posted is a View or a refusal', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      try {
        readViewRequest(body)
      } catch (error) {
        assert.ok(error instanceof ServiceError)
      }
    }),
  )
})
