/** A follower from within: blocks wait and Hosts sign without streams, and what is stored is awaited. */
import type { TestContext } from 'node:test'
import {
  createFollowerState,
  type FollowerParts,
  type FollowerState,
} from '../../../src/app/follow/follow-state.ts'
import { usualPatience } from '../../../src/app/follow/patience.ts'
import { createPendingBlocks } from '../../../src/app/follow/pending-blocks.ts'
import { wake } from '../../../src/app/follow/storing.ts'
import type { FollowedBlock } from '../../../src/follow/open-frames.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import { decodeStatementExcerpt } from '../../../src/row-votes/statement-excerpt.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { testNetwork } from '../../support/p2p-room.ts'
import { type MadeBlock, madeView, otherView, sdlOf } from './made-chain.ts'
import { madeExcerpt } from './made-host.ts'
import { openTestFollower } from './test-follower.ts'

export const hostA: DigestSigner = testSigner('A', 'Ed25519')
export const hostB: DigestSigner = testSigner('B', 'Ed25519')

export interface OpenedState {
  readonly state: FollowerState
  /** What it reported, such as `height 7`, in its order. */
  readonly reported: readonly string[]
}

/** Two Views are known and nothing is stored. Hosts A and B are accepted, of which one is believed. */
export async function openState(
  t: TestContext,
  options: Partial<FollowerState['options']> = {},
  changed: (parts: FollowerParts) => Partial<FollowerParts> = () => ({}),
): Promise<OpenedState> {
  const views = [madeView, otherView]
  const hosts = [hostA.identity, hostB.identity]
  const { parts, reported } = await openTestFollower(t, { views, hosts })
  for (const view of views) await parts.views.hear(hostA.identity, view, sdlOf(view))
  const given = { network: testNetwork, signers: new Set<string>(), from: 0 }
  const state = createFollowerState(
    { ...given, minimumHosts: 1, patience: usualPatience, ...options },
    { ...parts, ...changed(parts) },
  )
  return { state, reported }
}

interface Waiting {
  /** Default `madeView`. */
  readonly view?: string
  /** What the first of them stands on; null, the default, for anything. */
  readonly base?: FollowedBlock | null
  /** Since when they wait; by default since now. */
  readonly sinceMs?: number
}

/** These blocks of a View wait from now on, in place of others. */
export function letWait(
  state: FollowerState,
  blocks: readonly MadeBlock[],
  { view = madeView, base = null, sinceMs = performance.now() }: Waiting = {},
): void {
  const pending = createPendingBlocks(base)
  for (const block of blocks)
    if (!pending.add({ ...block, sinceMs })) throw new Error('it does not stand on the one before')
  state.pending.set(view, pending)
}

/** A Host says itself what it signed of blocks. */
export function sign(
  { votes }: FollowerState,
  host: DigestSigner,
  blocks: readonly MadeBlock[],
  view: string = madeView,
): void {
  for (const block of blocks)
    votes.add(decodeStatementExcerpt(madeExcerpt(block, host, view)), true)
}

/** Resolves once all is done that can be done now. */
export async function settle(state: FollowerState): Promise<void> {
  wake(state)
  while (state.running !== null) await state.running
}

/** Hashes of the blocks that are stored from height 0 on. */
export function storedHashes({ blocks }: FollowerState): readonly (string | undefined)[] {
  return Array.from({ length: blocks.head() + 1 }, (_, height) => blocks.hashAt(height))
}
