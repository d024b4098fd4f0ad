/** What follows Views into a store, without an application around it. */
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openAcceptedHosts } from '../../../src/app/accepted-hosts.ts'
import type { FollowerOptions, FollowerParts } from '../../../src/app/follow/follow-state.ts'
import { openRowFollower, type RowFollower } from '../../../src/app/follow/follower.ts'
import { usualPatience } from '../../../src/app/follow/patience.ts'
import { createSlices } from '../../../src/app/follow/slices.ts'
import { openFollowedViews } from '../../../src/app/followed-views.ts'
import { createInTurn } from '../../../src/primitives/in-turn.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { testNetwork } from '../../support/p2p-room.ts'
import { testDirectory } from '../../support/test-store.ts'

interface TestFollowerOptions extends Partial<Omit<FollowerOptions, 'network'>> {
  readonly views: readonly string[]
  /** Identities of those that are accepted; by default one of them is believed. */
  readonly hosts: readonly string[]
}

interface TestFollower {
  readonly follower: RowFollower
  readonly log: Logger
  readonly onFatal: (error: unknown) => void
  /** What it reported, such as `height 7`, in its order. */
  readonly reported: readonly string[]
  readonly parts: FollowerParts
  /** All that write into the store. */
  readonly writing: RowFollower[]
}

/** Closed after the test. Fills the store of another one where there is one, and is closed before that. */
export async function openTestFollower(
  t: TestContext,
  { views, hosts, ...options }: TestFollowerOptions,
  beside?: Pick<TestFollower, 'parts' | 'writing'>,
): Promise<TestFollower> {
  const reported: string[] = []
  const given = { minimumHosts: 1, ...options }
  const parts: FollowerParts = {
    ...(beside?.parts ?? (await openParts(t, given.minimumHosts, views, hosts))),
    onHeight: (_view, number) => void reported.push(`height ${number}`),
    onSealed: (number) => void reported.push(`sealed ${number}`),
    onRemoved: (above) => void reported.push(`removed above ${above}`),
  }
  const follower = openRowFollower(
    { network: testNetwork, signers: new Set(), from: 0, patience: usualPatience, ...given },
    parts,
  )
  const writing = beside?.writing ?? []
  writing.push(follower)
  t.after(async () => {
    if (beside !== undefined) return
    for (const each of writing) await each.close()
    await parts.store.close()
  })
  return { follower, log: parts.log, onFatal: parts.onFatal, reported, parts, writing }
}

async function openParts(
  t: TestContext,
  minimumHosts: number,
  ids: readonly string[],
  listed: readonly string[],
): Promise<Omit<FollowerParts, 'onHeight' | 'onSealed' | 'onRemoved'>> {
  const { log } = captureLog()
  const nothing = (): void => undefined
  const path = testDirectory(t)
  const store = await openWriter(
    { path, network: testNetwork, retainBlocks: null, program: 'app' },
    { log },
  )
  return {
    store,
    views: await openFollowedViews(
      { network: testNetwork, ids, minimumHosts },
      { log, store, onChange: nothing },
    ),
    accepted: openAcceptedHosts({ listed, peers: [] }, { store, onChange: nothing }),
    log,
    inTurn: createInTurn(),
    slices: createSlices(nextTurn),
    onFatal: (error) => {
      throw error
    },
  }
}
