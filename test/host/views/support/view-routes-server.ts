/** The routes of Views over HTTP, with an engine that computes nothing and notes what it is asked for. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ViewEngine, ViewState } from '../../../../src/host/views/engine/view-engine.ts'
import { openViewBook } from '../../../../src/host/views/view-book.ts'
import { viewRoutes } from '../../../../src/host/views/view-routes.ts'
import { type HostViews, openViews } from '../../../../src/host/views/views.ts'
import { openHttpServer } from '../../../../src/service/health/http-server.ts'
import type { StoreWriter } from '../../../../src/store/store.ts'
import { type Registration, readRegistration } from '../../../../src/views/registration.ts'
import { decodeView } from '../../../../src/views/wire.ts'
import { captureLog, type LogLine } from '../../../support/captured-log.ts'
import { testNetwork } from '../../../support/chain/sealed-blocks.ts'
import { openTestStore } from '../../../support/test-store.ts'

/** A View that is accepted. */
export const body = { query: 'Log { address }', sdl: 'type Seen { address: String }' }
/** Headers of whoever may change Views. */
export const admin = { authorization: 'Bearer admin' }
/** How every View stands, unless a test says another. */
export const live: ViewState = {
  name: 'backfilling',
  rows: 3,
  bytes: 120,
  done: [[5, 7]],
  rowsFrom: 5,
  blocksLeft: 40,
  blocksFailed: 1,
  blocksPerSecond: 8,
  costMs: 0.5,
  failure: { code: 'LENS_TRAPPED', message: 'it trapped', block: 4 },
}

/** A registered View that is not served. */
export const others: readonly [Readonly<Record<'id' | 'address' | 'state', string>>] = [
  { id: `0x${'5'.repeat(64)}`, address: `0x${'5'.repeat(40)}`, state: 'overLimit' },
]
/** A file of the folder that is not served. */
export const refusedFile = {
  id: `0x${'6'.repeat(64)}`,
  address: `0x${'6'.repeat(40)}`,
  reason: 'VIEWS_SDL_INVALID: no type',
}

/** What the thread does that checks Views, but for the modules. */
const checkInline = async (given: Registration) => {
  const { id, address, lenses } = readRegistration(given, decodeView(given.wire), testNetwork)
  return { id, address, lenses }
}

interface Answer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly text?: string
}

interface TestRoutes {
  /** Sends `body` as JSON, or `text` as it is. */
  ask(method: string, path: string, options?: Asked): Promise<Answer>
  /** What engine and GraphQL were asked for, in order. */
  readonly calls: string[]
  readonly views: HostViews
  readonly lines: readonly LogLine[]
}

/** Listens on loopback until the test ends. */
export async function openRoutes(
  t: TestContext,
  {
    adminToken = 'admin',
    maxViews = 2,
    store: given,
    state = live,
  }: {
    adminToken?: string | null
    maxViews?: number
    store?: StoreWriter
    state?: ViewState
  } = {},
): Promise<TestRoutes> {
  const store = given ?? (await openTestStore(t))
  const { log, lines } = captureLog()
  const calls: string[] = []
  const engine: ViewEngine = {
    serve: ({ name }) => void calls.push(`serve ${name}`),
    remove: async () => void calls.push('remove'),
    retry: () => void calls.push('retry'),
    states: () => {
      calls.push('states')
      return new Map(book.list().map(({ id }) => [id, state]))
    },
    state: (id) => (book.find(id) === undefined ? undefined : state),
    onRows: () => undefined,
    close: async () => undefined,
  }
  const book = openViewBook(
    { network: testNetwork, maxViews },
    { log, reader: store.reader, writer: store, check: checkInline },
  )
  const views = openViews({
    log,
    book,
    engine,
    setViews: (served) => void calls.push(`views ${served.map(({ name }) => name).join()}`),
    clearRows: async (slot) => void calls.push(`clear ${slot}`),
    onFatal: (error) => assert.fail(String(error)),
  })
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, setting: 'none' },
    {
      log,
      routes: (routes) =>
        viewRoutes(routes, {
          views,
          adminToken,
          folder: () => ({ others: [refusedFile] }),
          registry: () => ({ others }),
        }),
    },
  )
  t.after(() => server.close())
  return {
    calls,
    views,
    lines,
    ask: async (method, path, { headers = {}, body: sent, text = JSON.stringify(sent) } = {}) => {
      const type = text === undefined ? {} : { 'content-type': 'application/json' }
      const response = await fetch(`http://127.0.0.1:${server.port}/api/v0/views${path}`, {
        method,
        headers: { ...type, ...headers },
        body: text ?? null,
      })
      const answer = await response.text()
      return { status: response.status, json: answer === '' ? {} : JSON.parse(answer) }
    },
  }
}
