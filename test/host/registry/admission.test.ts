/** What becomes of a registered View that is not served: how long that holds, and what is said of it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ErrorCode, ServiceError } from '../../../src/errors.ts'
import { openAdmission } from '../../../src/host/registry/admission.ts'
import type { NotServed } from '../../../src/host/registry/outcomes.ts'
import type { HostedView, ViewOrigin } from '../../../src/host/views/hosted-view.ts'
import type { HostViews } from '../../../src/host/views/views.ts'
import type { SentView } from '../../../src/registry/listed-view.ts'
import { viewIDs } from '../../../src/views/view-id.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { captureLog } from '../../support/captured-log.ts'

const sender = `0x${'11'.repeat(20)}`
const wire = encodeView({
  query: 'Log { address }',
  sdl: 'type Seen { address: String }',
  lenses: [],
})
const { id, address } = viewIDs(sender, wire)
const sent: SentView = { id: address, sender, name: 'Seen', registeredAt: 1, wire }

type ViewOfHost = ReturnType<HostViews['list']>[number]

interface Setup {
  readonly maxViews?: number
  /** Views that the Host has at the start. */
  readonly here?: readonly Partial<ViewOfHost>[]
  readonly kept?: readonly Partial<ReturnType<HostViews['kept']>[number]>[]
  readonly denied?: readonly string[]
  readonly mayDecide?: () => boolean
}

/** An admission whose checks fail with this code, or find nothing wrong. */
function open(t: TestContext, failure: ErrorCode | null, setup: Setup = {}) {
  const { maxViews = 10, here = [], kept = [], denied = [], mayDecide = () => true } = setup
  const calls: string[] = []
  const noted = new Map<string, { outcome: NotServed; isKept: boolean }>()
  const served: Partial<ViewOfHost>[] = [...here]
  const { promise: fatal, resolve: onFatal } = Promise.withResolvers<unknown>()
  const { promise: decided, resolve: onDecided } = Promise.withResolvers<void>()
  const admission = openAdmission(
    { maxViews, maxBytes: 1e6, maxFields: 1e3 },
    {
      log: captureLog().log,
      views: {
        list: () => served as ViewOfHost[],
        register: async () => {
          served.push({ id, address, state: 'live', origins: ['registry'] })
          return {} as Awaited<ReturnType<HostViews['register']>>
        },
        kept: () => kept as ReturnType<HostViews['kept']>,
        noteRegistered: async (view, height) => void calls.push(`${view} is of height ${height}`),
        withdraw: async (view, origin) => void calls.push(`${view} is no longer ${origin}`),
      },
      fetch: async (view) => {
        calls.push(`${view} is fetched`)
        return null
      },
      outcomes: {
        of: (view) => noted.get(view)?.outcome ?? null,
        note: (view, outcome, isKept) => void noted.set(view, { outcome, isKept }),
      },
      checker: {
        check: async () => {
          if (failure !== null) throw new ServiceError(failure, 'as the test says')
          return { id, address, lenses: [], foreign: null, type: 'Seen', fields: 1 }
        },
        rest: async () => onDecided(),
      },
      filter: ({ name }) => (denied.includes(name) ? 'denied' : 'neither'),
      mayDecide,
      count: () => undefined,
      onFatal,
    },
  )
  t.after(() => admission.close())
  return { admission, noted, fatal, decided, calls }
}

const anHour = 3_600_000
const codes: readonly [ErrorCode, boolean][] = [
  ['VIEWS_SDL_INVALID', true],
  ['LENS_MODULE_REFUSED', true],
  ['HOST_VIEW_CHECK_TIMEOUT', false],
  ['SERVICE_THREAD_DIED', false],
]
for (const [code, isKept] of codes)
  test(`${code} is kept ${isKept ? 'for a day and over restarts' : 'for an hour and in memory'}`, async (t) => {
    const { admission, noted, decided } = open(t, code)
    admission.sent(sent)
    await decided
    const found = noted.get(address)
    assert.equal(found?.isKept, isKept)
    const forMs = (found?.outcome.untilMs ?? 0) - Date.now()
    assert.equal(forMs > anHour, isKept)
    assert.match(String(found?.outcome.reason), new RegExp(code))
  })

test('a store that fails is reported as such, and says nothing of the View', async (t) => {
  const { admission, noted, fatal } = open(t, 'STORE_FULL')
  admission.sent(sent)
  assert.equal(((await fatal) as ServiceError).code, 'STORE_FULL')
  assert.equal(noted.size, 0)
})

test('a malformed event about a served View does not list it as refused', async (t) => {
  const { admission, decided } = open(t, null)
  admission.unreadable({ id: address, reason: 'its creator is not an account' })
  admission.sent(sent)
  await decided
  assert.deepEqual(admission.others(), [])
})

test('what could not be read is listed for as long as lists have it, however much came before', async (t) => {
  const { admission, decided } = open(t, null)
  for (let number = 0; number < 100; number += 1)
    admission.unreadable({ id: `old ${number}`, reason: 'its ID is invalid' })
  admission.listEnded()
  admission.unreadable({ id: 'new', reason: 'its ID is invalid' })
  admission.listEnded()
  await decided
  assert.deepEqual(
    admission.others().map((other) => other.id),
    ['new'],
  )
})

test('the bytes of eight events are kept until they are looked at, those of others are fetched', async (t) => {
  const { admission, decided, calls } = open(t, 'VIEWS_SDL_INVALID')
  const views = Array.from({ length: 9 }, (_, number): SentView => {
    const creator = `0x${String(number).repeat(40)}`
    return { ...sent, sender: creator, id: viewIDs(creator, wire).address, registeredAt: number }
  })
  for (const view of views) admission.sent(view)
  await decided
  assert.deepEqual(calls, [`${views[8]?.id} is fetched`])
})

test('the bytes of an event about a View that was known are not kept: it is fetched', async (t) => {
  const { admission, decided, calls, noted } = open(t, 'HOST_VIEW_CHECK_TIMEOUT')
  admission.listed([sent])
  admission.sent(sent)
  await decided
  assert.deepEqual(calls, [`${address} is fetched`])
  assert.match(
    String(noted.get(address)?.outcome.reason),
    /the chain lists it and does not have it/,
  )
})

/** Local Views that the chain has or denies, by their names. */
const localView = (name: string, ...origins: readonly ViewOrigin[]) => ({
  ...{ id: `${name} ID`, address: `${name} address`, sender, origins },
  ...{ query: {} as HostedView['query'], rowType: { name } as HostedView['rowType'] },
})

test('of local Views it is noted which the chain has as well, and denied ones are its no longer', async (t) => {
  const names = ['Listed', 'ListedByID', 'Noted', 'Denied', 'NotedAndDenied', 'Unlisted'] as const
  const [Listed, ListedByID, Noted, Denied, NotedAndDenied, Unlisted] = names
  const { admission, decided, calls } = open(t, null, {
    denied: [Denied, NotedAndDenied],
    kept: [
      ...[Listed, ListedByID, Denied, Unlisted].map((name) => localView(name, 'posted')),
      ...[Noted, NotedAndDenied].map((name) => localView(name, 'folder', 'registry')),
      localView('NotLocal', 'registry'),
      { ...localView('Foreign', 'posted'), query: null },
    ],
    here: names.map((name) => ({ ...localView(name, 'posted'), state: 'live', fields: 1 })),
  })
  const listed = [...names, 'NotLocal', 'Foreign'].filter((name) => name !== Unlisted)
  admission.listed(
    listed.map((name, registeredAt) => {
      const by = name === ListedByID ? 'ID' : 'address'
      return { id: `${name} ${by}`, sender, name, registeredAt }
    }),
  )
  admission.decide()
  await decided
  const expected = [
    'Listed ID is of height 0',
    'ListedByID ID is of height 1',
    'NotedAndDenied ID is no longer registry',
    ...['NotLocal', 'Foreign'].map((name) => `${name} address is fetched`),
  ]
  assert.deepEqual(new Set(calls), new Set(expected))
})

test('a registered View without a place ends, and has none for a day by either of its IDs', async (t) => {
  const facts = { creator: sender, type: 'Seen', fields: 3, bytes: 77, state: 'live' } as const
  const view = { id, address, origins: ['registry'] as const, ...facts }
  const { admission, decided, calls, noted } = open(t, null, { maxViews: 0, here: [view] })
  admission.decide()
  await decided
  assert.deepEqual(calls, [`${id} is no longer registry`])
  assert.deepEqual([...noted.keys()], [id, address])
  for (const { outcome, isKept } of noted.values()) {
    const { untilMs, ...said } = outcome
    const proven = { ids: [id, address], sender, name: 'Seen' }
    const reason = 'it has no place'
    assert.deepEqual(said, { state: 'overLimit', reason, bytes: 77, fields: 3, proven })
    assert.deepEqual([untilMs - Date.now() > anHour, isKept], [true, false])
  }
})

test('a served View stays, unfetched, where local ones leave it a place and its fields', async (t) => {
  const facts = { creator: sender, type: 'Seen', bytes: 0, state: 'live' } as const
  const view = { id, address, origins: ['registry'] as const, fields: 3, ...facts }
  const cases = [
    { maxViews: 2, fields: 997, left: [] },
    { maxViews: 1, fields: 1, left: [`${id} is no longer registry`] },
    { maxViews: 2, fields: 998, left: [`${id} is no longer registry`] },
  ]
  for (const { maxViews, fields, left } of cases) {
    const local = { ...facts, id: 'local', address: 'local', origins: ['posted'] as const, fields }
    const { admission, decided, calls } = open(t, null, { maxViews, here: [view, local] })
    admission.decide()
    await decided
    assert.deepEqual(calls, left)
  }
})

const second = { ...sent, id: `0x${'2'.repeat(40)}`, registeredAt: 2 }

test('a View that is refused leaves its place to the next', async (t) => {
  const { admission, decided, calls } = open(t, 'VIEWS_SDL_INVALID', { maxViews: 1 })
  admission.listed([second])
  admission.sent(sent)
  await decided
  assert.deepEqual(calls, [`${second.id} is fetched`])
})

test('a Host that became full meanwhile looks at no further View', async (t) => {
  const { admission, decided, calls } = open(t, 'HOST_VIEWS_FULL')
  admission.listed([second])
  admission.sent(sent)
  await decided
  assert.deepEqual(calls, [])
})

test('while lists cannot be relied on nothing is decided, nor once the admission is closed', async (t) => {
  let mayDecide = false
  const { admission, decided, calls } = open(t, null, { mayDecide: () => mayDecide })
  admission.listed([sent])
  admission.decide()
  await decided
  assert.deepEqual([calls, admission.others()], [[], []])
  mayDecide = true
  await admission.close()
  admission.decide()
  await admission.close()
  assert.deepEqual([calls, admission.others()], [[], []])
})
