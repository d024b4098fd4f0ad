/** What becomes of one registered View that is to be served, and what is remembered of it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ErrorCode, ServiceError } from '../../../src/errors.ts'
import { type AdmitParts, admitView } from '../../../src/host/registry/admit-view.ts'
import type { NotServed } from '../../../src/host/registry/outcomes.ts'
import type { Standing } from '../../../src/host/registry/view-filter.ts'
import type { HostViews } from '../../../src/host/views/views.ts'
import type { ListedView, SentView } from '../../../src/registry/listed-view.ts'
import { viewIDs } from '../../../src/views/view-id.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { captureLog } from '../../support/captured-log.ts'

const sender = `0x${'11'.repeat(20)}`
const sdl = 'type Seen { address: String }'
const wire = encodeView({ query: 'Log { address }', sdl, lenses: [] })
const { id, address } = viewIDs(sender, wire)
const listed: ListedView = { id: address, sender, name: 'Listed', registeredAt: 1 }
const sent: SentView = { ...listed, wire }
const proven = { ids: [id, address], sender, name: 'Seen' }
const unnamed = { ...proven, name: 'Listed' }

const failing = (code: ErrorCode) => async (): Promise<never> => {
  throw new ServiceError(code, 'as the test says')
}
const [anHour, aDay] = [3_600_000, 86_400_000]

interface Scene {
  readonly fetch?: AdmitParts['fetch']
  readonly checkFails?: ErrorCode
  readonly registerFails?: ErrorCode
  readonly foreign?: string | null
  /** How it stands by what the chain says, and by its bytes. */
  readonly standing?: readonly [listed: Standing, proven: Standing]
  /** Fields of Views that are served, and of one that is of another chain. */
  readonly served?: readonly { readonly fields: number; readonly state: 'live' | 'foreign' }[]
  readonly before?: NotServed
}

interface Admitted {
  readonly result: string
  readonly noted: readonly { readonly outcome: NotServed; readonly isKept: boolean }[]
  readonly counted: readonly string[]
  readonly registered: number
}

/** Admits a View with one field, of a clock that stands at 0, where ten fields are the most. */
async function admit(t: TestContext, scene: Scene): Promise<Admitted> {
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  t.after(() => t.mock.timers.reset())
  const { foreign = null, standing = ['neither', 'neither'] } = scene
  const noted: { outcome: NotServed; isKept: boolean }[] = []
  const counted: string[] = []
  let registered = 0
  const parts: AdmitParts = {
    log: captureLog().log,
    views: {
      list: () => (scene.served ?? []) as unknown as ReturnType<HostViews['list']>,
      register: async () => {
        if (scene.registerFails !== undefined) return await failing(scene.registerFails)()
        registered += 1
        return {} as Awaited<ReturnType<HostViews['register']>>
      },
    },
    fetch: scene.fetch ?? (async () => sent),
    outcomes: {
      of: () => scene.before ?? null,
      note: (_id, outcome, isKept) => void noted.push({ outcome, isKept }),
    },
    checker: {
      check: async () => {
        if (scene.checkFails !== undefined) return await failing(scene.checkFails)()
        return { id, address, lenses: [], foreign, type: 'Seen', fields: 1 }
      },
    },
    candidates: { get: () => listed, standing: () => standing[0] },
    filter: () => standing[1],
    count: (outcome) => void counted.push(outcome),
  }
  const result = await admitView(address, { maxFields: 10 }, parts)
  t.mock.timers.reset()
  return { result, noted, counted, registered }
}

const outcome = (
  state: NotServed['state'],
  reason: string,
  rest: Partial<NotServed> & Pick<NotServed, 'untilMs'>,
): NotServed => ({ state, reason, bytes: 0, fields: 0, proven: null, ...rest })

test('a View is served where it stands in the lists as it was listed and its fields fit', async (t) => {
  const served = [
    { fields: 9, state: 'live' },
    { fields: 99, state: 'foreign' },
  ] as const
  const expected: Admitted = { result: 'admitted', noted: [], counted: ['served'], registered: 1 }
  assert.deepEqual(await admit(t, { served }), expected)
  assert.deepEqual(await admit(t, { standing: ['allowed', 'allowed'] }), expected)
})

const nothing: Admitted = { result: 'passed', noted: [], counted: [], registered: 0 }
const before = outcome('overLimit', 'it has no place', { untilMs: 5, bytes: 7, fields: 1 })

test('a View whose fields do not fit is noted with them, and leaves its place to another', async (t) => {
  const served = [{ fields: 10, state: 'live' }] as const
  const reason = 'with its 1 fields all Views together would have more than 10'
  const noted = outcome('overLimit', reason, { untilMs: aDay, fields: 1, proven })
  assert.deepEqual(await admit(t, { served }), {
    ...nothing,
    noted: [{ outcome: noted, isKept: true }],
  })
  const again = await admit(t, { served, before })
  assert.equal(again.noted[0]?.outcome.bytes, 7, 'what its rows took before')
})

test('a View that by its bytes stands otherwise in the lists is noted, and decided about again', async (t) => {
  const reason = `it is ${id} and ${address}, of the type Seen`
  const noted = outcome('overLimit', reason, { untilMs: aDay, proven })
  const expected = { ...nothing, noted: [{ outcome: noted, isKept: true }] }
  assert.deepEqual(await admit(t, { standing: ['allowed', 'neither'] }), expected)
  assert.deepEqual(await admit(t, { standing: ['neither', 'allowed'] }), expected)
  assert.deepEqual(await admit(t, { standing: ['neither', 'denied'] }), expected)
  const denied = await admit(t, { standing: ['denied', 'denied'], before })
  const kept = { ...noted, bytes: 7, fields: 1 }
  assert.deepEqual(denied, { ...nothing, noted: [{ outcome: kept, isKept: true }] })
})

test('a View of another chain is counted and noted as such', async (t) => {
  const noted = outcome('foreign', 'it reads Arbitrum__One__Log', { untilMs: aDay, proven })
  assert.deepEqual(await admit(t, { foreign: 'Arbitrum__One__Log' }), {
    ...nothing,
    noted: [{ outcome: noted, isKept: true }],
    counted: ['foreign'],
  })
})

const refused = (reason: string, rest: Pick<NotServed, 'untilMs' | 'proven'>, isKept: boolean) => ({
  ...nothing,
  noted: [{ outcome: outcome('refused', reason, rest), isKept }],
  counted: ['refused'],
})

test('a View that the chain does not have, or has otherwise, is asked for again in an hour', async (t) => {
  const text = (why: string): string =>
    `REGISTRY_VIEW_MISMATCH: View ${address} is not what it says: ${why}`
  const forNow = { untilMs: anHour, proven: null }
  assert.deepEqual(
    await admit(t, { fetch: async () => null }),
    refused(text('the chain lists it and does not have it'), forNow, false),
  )
  assert.deepEqual(
    await admit(t, { fetch: async () => ({ id: address, reason: 'its height is invalid' }) }),
    refused(text('its height is invalid'), forNow, false),
  )
  assert.deepEqual(
    await admit(t, { fetch: async () => ({ ...sent, wire: Uint8Array.of(1) }) }),
    refused(text('its ID does not follow from its creator and its bytes'), forNow, false),
  )
})

test('a View whose bytes are no good is noted for a day, under the name that the chain says', async (t) => {
  assert.deepEqual(
    await admit(t, { checkFails: 'VIEWS_SDL_INVALID' }),
    refused('VIEWS_SDL_INVALID: as the test says', { untilMs: aDay, proven: unnamed }, true),
  )
  assert.deepEqual(
    await admit(t, { checkFails: 'SERVICE_THREAD_DIED' }),
    refused('SERVICE_THREAD_DIED: as the test says', { untilMs: anHour, proven: unnamed }, false),
  )
})

test('while the chain does not answer, nothing is admitted, and a minute later it is asked again', async (t) => {
  const known = { untilMs: 60_000, proven: null }
  for (const code of ['REGISTRY_UNREACHABLE', 'VIEWS_TOO_LARGE'] as const)
    assert.deepEqual(await admit(t, { fetch: failing(code) }), {
      ...refused(`${code}: as the test says`, known, false),
      result: 'later',
    })
})

test('a Host that became full meanwhile decides again, and notes nothing of the View', async (t) => {
  for (const registerFails of ['HOST_VIEWS_FULL', 'HOST_VIEW_FIELDS_FULL'] as const)
    assert.deepEqual(await admit(t, { registerFails }), { ...nothing, result: 'later' })
})

test('a mistake of ours is no fault of the View', async (t) => {
  const fetch = async () => assert.fail('a mistake')
  await assert.rejects(admit(t, { fetch }), { message: 'a mistake' })
})

test('a store that fails is no fault of the View', async (t) => {
  await assert.rejects(admit(t, { registerFails: 'STORE_FULL' }), { code: 'STORE_FULL' })
})
