/** What follows Views into a store, without an application around it. */
import type { TestContext } from 'node:test'
import type { Logger } from 'pino'
import { openAcceptedHosts } from '../../../src/app/accepted-hosts.ts'
import { openRowFollower, type RowFollower } from '../../../src/app/follow/follower.ts'
import { usualPatience } from '../../../src/app/follow/patience.ts'
import { openFollowedViews } from '../../../src/app/followed-views.ts'
import { createInTurn } from '../../../src/primitives/in-turn.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { testNetwork } from '../../support/p2p-room.ts'
import { testDirectory } from '../../support/test-store.ts'

interface TestFollowerOptions {
  readonly views: readonly string[]
  /** Identities of those that are accepted; one of them is believed. */
  readonly hosts: readonly string[]
  readonly maxPendingBytes?: number
}

interface TestFollower {
  readonly follower: RowFollower
  readonly log: Logger
  readonly onFatal: (error: unknown) => void
}

/** Closed after the test. */
export async function openTestFollower(
  t: TestContext,
  { views: ids, hosts: listed, ...options }: TestFollowerOptions,
): Promise<TestFollower> {
  const { log } = captureLog()
  const nothing = (): void => undefined
  const onFatal = (error: unknown): void => {
    throw error
  }
  const path = testDirectory(t)
  const store = await openWriter(
    { path, network: testNetwork, retainBlocks: null, program: 'app' },
    { log },
  )
  const views = await openFollowedViews({ ids, minimumHosts: 1 }, { store, onChange: nothing })
  const accepted = openAcceptedHosts({ listed, peers: [] }, { store, onChange: nothing })
  const follower = openRowFollower(
    {
      network: testNetwork,
      minimumHosts: 1,
      signers: new Set(),
      from: 0,
      patience: usualPatience,
      ...options,
    },
    {
      ...{ store, views, accepted, log, onFatal },
      inTurn: createInTurn(),
      ...{ onHeight: nothing, onSealed: nothing, onRemoved: nothing },
    },
  )
  t.after(async () => {
    await follower.close()
    await store.close()
  })
  return { follower, log, onFatal }
}
