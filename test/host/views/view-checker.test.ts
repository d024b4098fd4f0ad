/** The thread that checks Views: what it finds. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createViewChecker } from '../../../src/host/views/view-checker.ts'
import { readRegistration } from '../../../src/views/registration.ts'
import { noSender } from '../../../src/views/view-id.ts'
import { decodeView, encodeView } from '../../../src/views/wire.ts'
import { buildLens } from '../../lens/support/lens.ts'
import { leb } from '../../lens/support/module.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'

function openChecker(t: TestContext) {
  const checker = createViewChecker({ network: testNetwork })
  t.after(() => checker.rest())
  return checker
}

function registration(lenses: readonly Uint8Array[], query = 'Log { address }') {
  const view = { query, sdl: 'type Seen { address: String }' }
  const wire = encodeView({ ...view, lenses: lenses.map((wasm) => ({ wasm, args: '' })) })
  return { sender: noSender, registeredAt: null, wire }
}

test('a View is checked in a thread of its own, which says what follows from its bytes', async (t) => {
  const given = registration([buildLens()])
  const { id, address, lenses } = readRegistration(given, decodeView(given.wire), testNetwork)
  const found = await openChecker(t).check(given)
  assert.deepEqual(found, { id, address, lenses, foreign: null, type: 'Seen', fields: 1 })
})

test('of a View of another chain only its own texts are checked', async (t) => {
  const collection = 'Arbitrum__One__Log'
  const given = registration([Uint8Array.of(0, 1, 2)], `${collection} { nothing }`)
  const { foreign, type } = await openChecker(t).check(given)
  assert.deepEqual([foreign, type], [collection, 'Seen'])
})

const manyEntries = buildLens({ tables: [[0x70, 0, ...leb(65_536)]] })
const refused: readonly [string, ReturnType<typeof registration>, string][] = [
  ['its wire bytes', { ...registration([]), wire: Uint8Array.of(1) }, 'VIEWS_WIRE_MALFORMED'],
  ['its query', registration([], 'Nothing { x }'), 'VIEWS_QUERY_INVALID'],
  ['a field of its query', registration([], 'Log { nothing }'), 'VIEWS_QUERY_INVALID'],
  ['a module', registration([Uint8Array.of(0, 1, 2)]), 'LENS_MODULE_REFUSED'],
  ['all its modules together', registration(Array(5).fill(manyEntries)), 'LENS_MODULE_REFUSED'],
]
for (const [what, given, code] of refused)
  test(`what is wrong about ${what} is said with its code`, async (t) => {
    await assert.rejects(openChecker(t).check(given), { code })
  })

test('the next View finds a thread, whatever became of the one before', async (t) => {
  const checker = openChecker(t)
  const good = registration([])
  await checker.check(good)
  await checker.rest()
  await assert.rejects(checker.check(registration([Uint8Array.of(0)])))
  assert.equal((await checker.check(good)).type, 'Seen')
  const [one, two] = await Promise.all([checker.check(good), checker.check(good)])
  assert.deepEqual(one, two)
})

test('a View that takes too long to check is given up, and the next one is checked', async (t) => {
  const checker = openChecker(t)
  const given = registration([buildLens()])
  const { mock } = t.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort())
  await assert.rejects(checker.check(given), {
    code: 'HOST_VIEW_CHECK_TIMEOUT',
    message: 'the View could not be checked within 10 seconds',
  })
  assert.deepEqual(mock.calls[0]?.arguments, [10_000])
  mock.restore()
  assert.equal((await checker.check(given)).type, 'Seen')
})
