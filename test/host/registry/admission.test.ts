/** What becomes of a registered View that is not served: how long that holds, and what is said of it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ErrorCode, ServiceError } from '../../../src/errors.ts'
import { openAdmission } from '../../../src/host/registry/admission.ts'
import type { NotServed } from '../../../src/host/registry/outcomes.ts'
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

/** An admission whose checks fail with this code, or find nothing wrong. */
function open(t: TestContext, failure: ErrorCode | null) {
  const noted = new Map<string, { outcome: NotServed; isKept: boolean }>()
  const served: { id: string; address: string; state: string; origins: string[] }[] = []
  const { promise: fatal, resolve: onFatal } = Promise.withResolvers<unknown>()
  const { promise: decided, resolve: onDecided } = Promise.withResolvers<void>()
  const admission = openAdmission(
    { maxViews: 10, maxBytes: 1e6, maxFields: 1e3 },
    {
      log: captureLog().log,
      views: {
        list: () => served as unknown as ReturnType<HostViews['list']>,
        register: async () => {
          served.push({ id, address, state: 'live', origins: ['registry'] })
          return {} as Awaited<ReturnType<HostViews['register']>>
        },
        kept: () => [],
        noteRegistered: async () => undefined,
        withdraw: async () => undefined,
      },
      fetch: async () => null,
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
      filter: () => 'neither',
      mayDecide: () => true,
      count: () => undefined,
      onFatal,
    },
  )
  t.after(() => admission.close())
  return { admission, noted, fatal, decided }
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
