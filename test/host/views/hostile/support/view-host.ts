/** A whole Host to which an administrator posts Views, and a Generator whose blocks it follows. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { HealthReport } from '../../../../../src/service/contract.ts'
import { openReader } from '../../../../../src/store/read/reader.ts'
import type { StoreReader } from '../../../../../src/store/store.ts'
import type { CapturedLog } from '../../../../support/captured-log.ts'
import { openHostInProcess } from '../../../../support/host-in-process.ts'
import { pause } from '../../../../support/programs.ts'
import type { TestGenerator } from '../../../../support/test-generator.ts'
import { testDirectory } from '../../../../support/test-store.ts'

export interface ListedView {
  readonly id: string
  readonly name: string
  readonly rows: number
  /** Blocks that it has neither done nor failed at. */
  readonly blocks_left: number
  readonly error: { readonly code: string } | null
  readonly done: readonly { readonly to: number }[]
}

interface PostAnswer {
  readonly status: number
  readonly body: { readonly id?: string; readonly code?: string }
}

export interface ViewHost {
  readonly apiUrl: string
  readonly healthUrl: string
  readonly captured: CapturedLog
  health(): Promise<{ status: number; report: HealthReport }>
  /** Posts the wire bytes of a View. */
  post(wire: Uint8Array): Promise<PostAnswer>
  remove(id: string): Promise<void>
  listed(): Promise<readonly ListedView[]>
  /** Waits until a block is the head, which has to be soon. */
  untilHead(number: number): Promise<void>
  /** Reads its store as it is now. */
  readStore<T>(use: (reader: StoreReader) => T): T
}

/** The benchmark has the figure of 100 ms: here others are at work, and a Host that lenses block stands still for seconds. */
export const slowestHealthMs = 1_000
const slowestHeadMs = 3_000
/** Each hostile View may have its two seconds on the only thread first, and more where processors are busy. */
export const slowestRowsMs = 90_000

/** Waits until something is so, which has to be before the time is over. */
export async function within(
  ms: number,
  what: string,
  isSo: () => Promise<boolean>,
): Promise<void> {
  const endMs = performance.now() + ms
  while (!(await isSo())) {
    assert.ok(performance.now() < endMs, `${what} within ${ms} ms`)
    await pause(20)
  }
}

/** Opens a Host that trusts the Generator; closed after the test. */
export async function openViewHost(
  t: TestContext,
  generator: TestGenerator,
  settings: Readonly<Record<string, string>> = {},
): Promise<ViewHost> {
  const home = testDirectory(t)
  const { captured, health, healthUrl, opened } = await openHostInProcess(t, home, {
    BOOTSTRAP_PEERS: generator.room.address,
    HOST_TRUSTED_SIGNERS: generator.signer.identity,
    HOST_ADMIN_TOKEN: 'admin',
    ...settings,
  })
  const apiUrl = `http://127.0.0.1:${(await opened).apiPort}/api/v0`
  const authorization = 'Bearer admin'
  return {
    apiUrl,
    healthUrl,
    captured,
    health,
    post: async (wire) => {
      const response = await fetch(`${apiUrl}/views`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ wire: Buffer.from(wire).toString('base64') }),
      })
      return { status: response.status, body: (await response.json()) as PostAnswer['body'] }
    },
    remove: async (id) => {
      const headers = { authorization }
      const { status } = await fetch(`${apiUrl}/views/${id}`, { method: 'DELETE', headers })
      assert.equal(status, 204)
    },
    listed: async () => {
      const { views } = (await (await fetch(`${apiUrl}/views`)).json()) as { views: ListedView[] }
      return views
    },
    untilHead: (number) =>
      within(slowestHeadMs, `block ${number} is the head`, async () => {
        const { head } = (await health()).report
        return head !== null && head >= number
      }),
    readStore: (use) => {
      const reader = openReader({ path: join(home, 'store') })
      try {
        return use(reader)
      } finally {
        reader.close()
      }
    },
  }
}
