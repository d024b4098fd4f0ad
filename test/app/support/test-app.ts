/** An application in the process of the test, in a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App, AppOptions, AppState } from '../../../src/app/app.ts'
import { type Patience, usualPatience } from '../../../src/app/follow/patience.ts'
import { openRunningApp } from '../../../src/app/running-app.ts'
import { testNetwork } from '../../support/p2p-room.ts'
import { madeView } from './made-chain.ts'
import type { MadeHost } from './made-host.ts'

interface TestAppOptions extends Partial<Omit<AppOptions, 'peers' | 'hosts'>> {
  /** The Hosts that it follows; they are accepted by name. */
  readonly hosts: readonly MadeHost[]
  /** Accepts those that peers prove to be instead. */
  readonly isTrusting?: boolean
  /** What it waits otherwise for than usual. */
  readonly patience?: Partial<Patience>
}

export async function temporaryFolder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'viewmesh-app-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Closed after the test. */
export async function openTestApp(
  t: TestContext,
  { hosts, isTrusting = false, patience, ...options }: TestAppOptions,
): Promise<App> {
  const app = await openRunningApp({
    path: options.path ?? (await temporaryFolder(t)),
    network: testNetwork,
    views: [madeView],
    peers: hosts.map(({ room }) => room.address),
    ...(isTrusting ? {} : { hosts: hosts.map(({ identity }) => identity) }),
    ...options,
    patience: { ...usualPatience, ...patience },
  })
  t.after(() => app.close())
  return app
}

/** Resolves once the state is as it should be. */
export async function untilState(
  app: App,
  condition: (state: AppState) => boolean,
): Promise<AppState> {
  const now = app.state()
  if (condition(now)) return now
  return await new Promise((resolve, reject) => {
    const tooLate = setTimeout(() => {
      stop()
      reject(new Error(`the application stands at ${JSON.stringify(app.state())}`))
    }, 60_000)
    const stop = app.onChange((state) => {
      if (!condition(state)) return
      stop()
      clearTimeout(tooLate)
      resolve(state)
    })
  })
}

/** The highest height of which there is something. */
export function topOf({ views: [view] }: AppState): number {
  return view?.done.at(-1)?.to ?? -1
}
