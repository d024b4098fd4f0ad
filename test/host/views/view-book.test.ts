/** Which Views a Host has: kept over restarts, named once, with slots that no other View ever gets. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { isHosted, type ViewOrigin } from '../../../src/host/views/hosted-view.ts'
import { openViewBook, type ViewBook } from '../../../src/host/views/view-book.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { type Registration, readRegistration } from '../../../src/views/registration.ts'
import type { View } from '../../../src/views/view.ts'
import { noSender } from '../../../src/views/view-id.ts'
import { decodeView, encodeView } from '../../../src/views/wire.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

const network = testNetwork

function registration(view: Partial<View> = {}, sender = noSender) {
  const whole = { query: 'Log { address }', sdl: 'type Seen { address: String }', lenses: [] }
  return { sender, registeredAt: null, wire: encodeView({ ...whole, ...view }) }
}

const noCheck = (): void => undefined

/** What the thread does that checks Views, but for the modules, in whose place stands `check`. */
const checking = (check: () => void) => async (given: Registration) => {
  const { id, address, lenses } = readRegistration(given, decodeView(given.wire), network)
  check()
  return { id, address, lenses }
}

async function openBook(
  t: TestContext,
  { maxViews = 3, check = noCheck }: { maxViews?: number; check?: () => void } = {},
): Promise<{
  book: ViewBook
  reopen: (check?: () => void) => ViewBook
  store: StoreWriter
  captured: CapturedLog
  /** How often something was written. */
  writes: () => number
}> {
  const store = await openTestStore(t)
  let writes = 0
  const writer = {
    putRecord: (...record: Parameters<StoreWriter['putRecord']>) => {
      writes += 1
      return store.putRecord(...record)
    },
  }
  const captured = captureLog()
  const open = (checked: () => void): ViewBook =>
    openViewBook(
      { network, maxViews },
      { log: captured.log, reader: store.reader, writer, check: checking(checked) },
    )
  const reopen = (checked = check): ViewBook => open(checked)
  return { book: open(check), reopen, store, captured, writes: () => writes }
}

function placesOf(book: ViewBook): unknown[] {
  return book.list().map((view) => (isHosted(view) ? [view.name, view.slot] : view.foreign))
}

test('a View is kept with its name and its slot, and found by both its IDs', async (t) => {
  const { book, reopen } = await openBook(t)
  const { view, isNew } = await book.add(registration(), 'posted')
  assert.deepEqual([isNew, placesOf(book)], [true, [['Seen', 1]]])
  const after = reopen()
  assert.deepEqual(after.list(), book.list())
  for (const id of [view.id, view.address, view.address.toLowerCase(), `Seen_${view.id}`])
    assert.equal(after.find(id)?.id, view.id)
  assert.equal(after.find('Seen'), undefined)
})

test('each of several Views is found by its own IDs, and no View by those of another', async (t) => {
  const { book } = await openBook(t)
  const senders = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`)
  for (const sender of senders) await book.add(registration({}, sender), 'posted')
  const views = book.list()
  assert.deepEqual(
    views.map(({ address }) => book.find(address)),
    views,
  )
  assert.deepEqual(
    views.map(({ id }) => book.find(id)),
    views,
  )
  for (const unknown of [`0x${'7'.repeat(40)}`, `0x${'7'.repeat(64)}`])
    assert.deepEqual(
      [book.find(unknown), await book.leave(unknown, 'posted')],
      [undefined, undefined],
    )
})

test('what changes of one View changes nothing of the others, also after a restart', async (t) => {
  const { book, reopen } = await openBook(t)
  const [first, second, third] = ['1', '2', '3'].map((digit) =>
    registration({}, `0x${digit.repeat(40)}`),
  )
  assert.ok(first && second && third)
  for (const each of [first, second, third]) await book.add(each, 'posted')
  await book.add(second, 'folder')
  await book.noteRegistered(`0x${'7'.repeat(64)}`, 5)
  assert.deepEqual(
    reopen()
      .list()
      .map(({ origins }) => origins),
    [['posted'], ['posted', 'folder'], ['posted']],
  )
  const [lowest, kept, highest] = book.list()
  for (const removed of [lowest, highest]) await book.leave(removed?.id ?? '', 'posted')
  assert.deepEqual([book.list(), reopen().list()], [[kept], [kept]])
  await book.cleared(1)
  assert.deepEqual(reopen().removedSlots(), [3])
})

test('a View that is there already stays as it is, and nothing is written of it', async (t) => {
  const { book, writes } = await openBook(t)
  const first = await book.add(registration(), 'posted')
  const before = writes()
  const second = await book.add(registration(), 'posted')
  assert.deepEqual([second.isNew, second.view], [false, first.view])
  assert.equal(await book.leave(first.view.id, 'folder'), undefined)
  assert.deepEqual([book.list(), writes()], [[first.view], before])
})

const allOrigins = fc.array(fc.constantFrom<ViewOrigin>('posted', 'folder', 'registry'))

test('a View goes with the last of its origins, in whatever order they come and go', async (t) => {
  const { book, reopen } = await openBook(t)
  await fc.assert(
    fc.asyncProperty(allOrigins, allOrigins, async (come, go) => {
      const wanted = new Set<ViewOrigin>()
      for (const origin of come) {
        const registeredAt = origin === 'registry' ? 7 : null
        const { isNew } = await book.add({ ...registration(), registeredAt }, origin)
        assert.equal(isNew, wanted.size === 0)
        wanted.add(origin)
      }
      const { id = '' } = book.list()[0] ?? {}
      for (const origin of [...go, 'posted', 'folder', 'registry'] as const) {
        const isLast = wanted.delete(origin) && wanted.size === 0
        assert.equal((await book.leave(id, origin)) !== undefined, isLast)
        const found = reopen().find(id)
        const height = wanted.has('registry') ? 7 : null
        assert.deepEqual([new Set(found?.origins), found?.registeredAt ?? null], [wanted, height])
      }
    }),
    { numRuns: 25 },
  )
})

test('a View of a version without origins was posted, or is of the registry chain', async (t) => {
  const { book, reopen, store } = await openBook(t)
  await book.add(registration(), 'folder')
  await book.add({ ...registration({}, `0x${'1'.repeat(40)}`), registeredAt: 5 }, 'registry')
  const record = store.reader.read((snapshot) => snapshot.record('views'))
  const before = JSON.parse(String(record)) as { views: { origins?: unknown }[] }
  for (const view of before.views) delete view.origins
  await store.putRecord('views', new Uint8Array(Buffer.from(JSON.stringify(before))))
  assert.deepEqual(
    reopen()
      .list()
      .map(({ origins }) => origins),
    [['posted'], ['registry']],
  )
})

test('a registered View takes the room of a local one when it becomes one', async (t) => {
  const { book } = await openBook(t, { maxViews: 1 })
  const registered = { ...registration({}, `0x${'1'.repeat(40)}`), registeredAt: 5 }
  await book.add(registered, 'registry')
  await book.add(registration(), 'folder')
  await assert.rejects(book.add(registered, 'posted'), { code: 'HOST_VIEWS_FULL' })
  await book.leave(book.list()[1]?.id ?? '', 'folder')
  const { view, isNew } = await book.add(registered, 'posted')
  assert.deepEqual([isNew, view.origins, view.registeredAt], [false, ['registry', 'posted'], 5])
})

test('a registered View has room where there is some beside all others, a local one beside those', async (t) => {
  const { book } = await openBook(t, { maxViews: 1 })
  const registered = (digit: string): Registration => {
    return { ...registration({}, `0x${digit.repeat(40)}`), registeredAt: 5 }
  }
  await book.add(registered('1'), 'registry')
  await assert.rejects(book.add(registered('2'), 'registry'), {
    code: 'HOST_VIEWS_FULL',
    message: 'the Host serves 1 Views, of at most 1',
  })
  await book.add(registration(), 'posted')
  assert.equal(book.list().length, 2)
})

test('a local View takes no further room when it becomes a registered one', async (t) => {
  const { book } = await openBook(t, { maxViews: 1 })
  const { view } = await book.add(registration(), 'posted')
  await book.noteRegistered(view.id, 5)
  assert.deepEqual(book.list(), [{ ...view, origins: ['posted', 'registry'], registeredAt: 5 }])
})

test('Views that arrive at once get slots and names of their own', async (t) => {
  const { book } = await openBook(t)
  const senders = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`)
  const added = await Promise.all(
    senders.map((sender) => book.add(registration({}, sender), 'posted')),
  )
  const names = added.map(({ view }) => (isHosted(view) ? view.name : null))
  assert.equal(names[0], 'Seen')
  for (const [index, { view }] of added.entries())
    if (index > 0) assert.equal(names[index], `Seen_${view.id.slice(2, 10)}`)
  assert.deepEqual(
    placesOf(book).map((place) => (place as unknown[])[1]),
    [1, 2, 3],
  )
})

test('a removed View leaves its slot until its rows are gone, and nobody gets that again', async (t) => {
  const { book, reopen, store } = await openBook(t)
  const { view } = await book.add(registration(), 'posted')
  const { id, address } = view
  assert.deepEqual(await book.leave(address, 'posted'), { id, address, slot: 1 })
  assert.deepEqual(
    store.reader.read((snapshot) => snapshot.recordNames('view')),
    ['views'],
  )
  assert.equal(await book.leave(address, 'posted'), undefined)
  assert.deepEqual(reopen().removedSlots(), [1])
  await book.cleared(1)
  assert.deepEqual(reopen().removedSlots(), [])
  await book.add(registration(), 'posted')
  assert.deepEqual(placesOf(reopen()), [['Seen', 2]])
})

test('what a kill left beside the book is removed, and what is of its Views is not', async (t) => {
  const { book, reopen, store } = await openBook(t)
  const { view } = await book.add(registration(), 'posted')
  const unreadable = await book.add(registration({ sdl: 'type Other { a: String }' }), 'posted')
  await store.putRecord(`view/${unreadable.view.id}`, Uint8Array.of(1))
  await store.putRecord(`view-engine/${view.id}`, Uint8Array.of(1))
  const names = (): readonly string[] =>
    store.reader.read((snapshot) => snapshot.recordNames('view'))
  const before = names()
  const gone = `0x${'7'.repeat(64)}`
  for (const name of [`view/${gone}`, `view-engine/${gone}`])
    await store.putRecord(name, Uint8Array.of(1))
  const after = reopen()
  const [, added] = await Promise.all([
    after.removeRemains(),
    after.add(registration({ sdl: 'type Third { a: String }' }), 'posted'),
  ])
  assert.deepEqual(names(), [...before, `view/${added.view.id}`].toSorted())
})

test('a View of another chain is kept without a place, and more than the limit are refused', async (t) => {
  const { book, reopen } = await openBook(t, { maxViews: 1 })
  await book.add(registration({ query: 'Arbitrum__One__Log { address }' }), 'posted')
  await book.add(registration(), 'posted')
  const again = reopen()
  assert.deepEqual(placesOf(again), ['Arbitrum__One__Log', ['Seen', 1]])
  await assert.rejects(book.add(registration({}, `0x${'1'.repeat(40)}`), 'posted'), {
    code: 'HOST_VIEWS_FULL',
    remedy: /MAX_VIEWS/,
  })
  const [{ id, address } = assert.fail()] = again.list()
  assert.deepEqual(await again.leave(id, 'posted'), { id, address, slot: null })
  assert.deepEqual(again.removedSlots(), [], 'it had no rows')
})

test('Views of other chains are bounded as well', async (t) => {
  const { book } = await openBook(t, { maxViews: 1 })
  const foreign = { query: 'Arbitrum__One__Log { address }' }
  await book.add(registration(foreign), 'posted')
  await assert.rejects(book.add(registration(foreign, `0x${'1'.repeat(40)}`), 'posted'), {
    code: 'HOST_VIEWS_FULL',
    message: 'the Host has 1 Views of other chains, of at most 1',
  })
})

test('what is refused leaves nothing behind', async (t) => {
  const refuse = (): void => {
    throw new ServiceError('LENS_MODULE_REFUSED', 'no')
  }
  const { book, reopen, store } = await openBook(t, { check: refuse })
  await assert.rejects(book.add(registration(), 'posted'), { code: 'LENS_MODULE_REFUSED' })
  await assert.rejects(book.add(registration({ sdl: 'type' }), 'posted'), {
    code: 'VIEWS_SDL_INVALID',
  })
  assert.deepEqual(reopen().list(), [])
  assert.deepEqual(
    store.reader.read((snapshot) => snapshot.recordNames('view')),
    [],
  )
})

test('a View that was checked when it came is not checked again at a start', async (t) => {
  const { book, reopen, captured } = await openBook(t)
  await book.add(registration(), 'posted')
  const after = reopen(() => {
    throw new ServiceError('LENS_MODULE_REFUSED', 'it has a section 13')
  })
  assert.deepEqual(after.list(), book.list())
  assert.deepEqual(captured.lines, [])
})

test('a View that can no longer be read is reported, stays kept, and is removed by either ID', async (t) => {
  const { reopen, captured, store } = await openBook(t)
  for (const [index, name] of (['id', 'address'] as const).entries()) {
    const { view } = await reopen().add(registration(), 'posted')
    const { id, address } = view
    await store.putRecord(`view/${id}`, Uint8Array.of(1, 2, 3))
    const later = reopen()
    assert.deepEqual(later.list(), [])
    const line = captured.lines.at(-1)
    assert.deepEqual(
      [line?.['code'], line?.['view'], line?.['address'], line?.['cause']],
      [
        ...['HOST_VIEW_UNREADABLE', id, address],
        'VIEWS_WIRE_MALFORMED: these are not wire bytes of a View: they do not begin with VWL',
      ],
    )
    assert.deepEqual(await later.leave(view[name], 'posted'), { id, address, slot: index + 1 })
    assert.deepEqual(reopen().list(), [])
  }
})

test('a View that could not be read and is posted again has one place, with the slot of before', async (t) => {
  const { book, reopen, store } = await openBook(t)
  const { view } = await book.add(registration(), 'posted')
  await book.add(registration({ sdl: 'type Other { address: String }' }), 'posted')
  await store.putRecord(`view/${view.id}`, Uint8Array.of(1, 2, 3))
  const later = reopen()
  assert.deepEqual(placesOf(later), [['Other', 2]])
  assert.equal((await later.add(registration(), 'posted')).isNew, true)
  assert.deepEqual(placesOf(later), [
    ['Other', 2],
    ['Seen', 1],
  ])
  assert.deepEqual(placesOf(reopen()), placesOf(later))
  const next = await later.add(registration({ sdl: 'type Third { address: String }' }), 'posted')
  assert.equal(isHosted(next.view) && next.view.slot, 3)
})

test('a View that could not be read keeps the origins of before', async (t) => {
  const { book, reopen, store } = await openBook(t)
  const { view } = await book.add({ ...registration(), registeredAt: 7 }, 'registry')
  await store.putRecord(`view/${view.id}`, Uint8Array.of(1, 2, 3))
  const later = reopen()
  const again = await later.add(registration(), 'folder')
  assert.deepEqual([again.view.origins, again.view.registeredAt], [['registry', 'folder'], 7])
  assert.deepEqual(reopen().list(), later.list())
})

test('the fields of all Views together are bounded, so that the schema stays quick', async (t) => {
  const { book } = await openBook(t, { maxViews: 100 })
  const wide = (name: string, count: number) => {
    const fields = Array.from({ length: count }, (_, index) => `f${index}: Int`)
    return registration({ sdl: `type ${name} { ${fields.join(' ')} }` })
  }
  for (let index = 0; index < 19; index++) await book.add(wide(`Wide${index}`, 256), 'posted')
  await book.add(wide('Last', 5_000 - 19 * 256), 'posted')
  await assert.rejects(book.add(registration(), 'posted'), {
    code: 'HOST_VIEW_FIELDS_FULL',
    message: /5001 fields together, of at most 5000/,
  })
})
