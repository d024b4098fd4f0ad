/** A folder of Views over a real book in a real store; the engine computes nothing. */
import type { TestContext } from 'node:test'
import { Registry } from 'prom-client'
import { createViewCheck } from '../../../../src/compute/view-check.ts'
import { openViewsFolder, type ViewsFolder } from '../../../../src/host/folder/views-folder.ts'
import type { ViewEngine } from '../../../../src/host/views/engine/view-engine.ts'
import { openViewBook } from '../../../../src/host/views/view-book.ts'
import type { ViewChecker } from '../../../../src/host/views/view-checker.ts'
import { type HostViews, openViews } from '../../../../src/host/views/views.ts'
import type { Registration } from '../../../../src/views/registration.ts'
import { toViewFile } from '../../../../src/views/view-file.ts'
import { noSender } from '../../../../src/views/view-id.ts'
import { encodeView } from '../../../../src/views/wire.ts'
import { type CapturedLog, captureLog } from '../../../support/captured-log.ts'
import { testNetwork } from '../../../support/chain/sealed-blocks.ts'
import { openTestStore, testDirectory } from '../../../support/test-store.ts'

/** A View of this name without lenses, as somebody posts it. */
export function registrationOf(name: string, query = 'Log { address }'): Registration {
  const sdl = `type ${name} { address: String }`
  return { sender: noSender, registeredAt: null, wire: encodeView({ query, sdl, lenses: [] }) }
}

/** The same as a file. */
export function viewFileOf(name: string, query?: string): ReturnType<typeof toViewFile> {
  return toViewFile(registrationOf(name, query))
}

interface FolderRoom {
  readonly path: string
  readonly captured: CapturedLog
  readonly metrics: Registry
  readonly views: HostViews
  readonly checked: string[]
  /** How often the thread that checks was ended. */
  rests(): number
  /** Names in GraphQL, in order. */
  names(): (string | null)[]
  open(viewsDir?: string | null): Promise<ViewsFolder>
}

/** What the thread does that checks Views. */
function checkHere(onCheck: (type: string) => Promise<void>, onRest: () => void): ViewChecker {
  const check = createViewCheck(testNetwork)
  return {
    check: async (registration) => {
      const { id, address, lenses, foreign, rowType } = check(registration).view
      const { name: type, fields } = rowType
      await onCheck(type)
      return { id, address, lenses, foreign, type, fields: fields.length }
    },
    rest: async () => onRest(),
  }
}

const noEngine: ViewEngine = {
  serve: () => undefined,
  remove: async () => undefined,
  retry: () => undefined,
  states: () => new Map(),
  state: () => undefined,
  onRows: () => undefined,
  close: async () => undefined,
}

export async function openFolderRoom(
  t: TestContext,
  {
    maxViews = 100,
    pollIntervalMs = 5,
    onCheck = async () => undefined,
    onFatal = (error) => {
      throw error
    },
  }: {
    maxViews?: number
    pollIntervalMs?: number
    /** Is called before a View is checked, with the name of its type. */
    onCheck?: (type: string) => Promise<void>
    onFatal?: (error: unknown) => void
  } = {},
): Promise<FolderRoom> {
  const opened: ViewsFolder[] = []
  // Before the store closes, and before its files go one by one.
  t.after(() => Promise.all(opened.map((folder) => folder.close())))
  const store = await openTestStore(t)
  const captured = captureLog()
  const { log } = captured
  const checked: string[] = []
  let rests = 0
  const checker = checkHere(
    (type) => {
      checked.push(type)
      return onCheck(type)
    },
    () => {
      rests += 1
    },
  )
  const book = openViewBook(
    { network: testNetwork, maxViews },
    { log, reader: store.reader, writer: store, check: (given) => checker.check(given) },
  )
  const views = openViews({
    log,
    book,
    engine: noEngine,
    setViews: () => undefined,
    // There are none, and nobody waits for it.
    clearRows: () => new Promise(() => undefined),
    onFatal,
  })
  const path = testDirectory(t)
  const metrics = new Registry()
  return {
    path,
    captured,
    metrics,
    views,
    checked,
    rests: () => rests,
    names: () => views.list().map(({ name }) => name),
    async open(viewsDir = path) {
      metrics.clear()
      const folder = await openViewsFolder(
        { viewsDir, pollIntervalMs },
        { log, registry: metrics, views, checker, onFatal },
      )
      opened.push(folder)
      return folder
    },
  }
}
