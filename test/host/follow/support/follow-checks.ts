/** Views and checks for tests of followers. */
import assert from 'node:assert/strict'
import { encodeViewRecord, viewRecordName } from '../../../../src/host/views/engine/view-record.ts'
import type { HostedView } from '../../../../src/host/views/hosted-view.ts'
import { runtimeVersion } from '../../../../src/lens/program/run-limits.ts'
import type { StoreWriter } from '../../../../src/store/store.ts'
import { until } from '../../../support/p2p-room.ts'
import { hostSigner } from '../../row-votes/support/signing-room.ts'
import { hostedView } from '../../views/engine/support/engine-room.ts'
import type { FollowClient, FollowedRows } from './follow-client.ts'
import type { FollowRoom } from './follow-room.ts'

/** A View with rows of most blocks; another one for another slot. */
export const logs = (slot: number): HostedView =>
  hostedView({ slot, sdl: `type Logs${slot} { address: String logIndex: Int }` })

/** A View that has rows of few blocks. */
export const rare = (slot: number): HostedView =>
  hostedView({
    slot,
    query: 'AccessListEntry { address }',
    sdl: `type Rare${slot} { address: String }`,
  })

/** So many heights from 100 on, or from another one. */
export const heights = (count: number, from = 100): number[] =>
  Array.from({ length: count }, (_, index) => from + index)

/** What is stored of a View, as an application should have it. */
export function stored(
  { store }: Pick<FollowRoom, 'store'>,
  { slot }: HostedView,
): Map<number, FollowedRows> {
  return store.reader.read((snapshot) => {
    const found = new Map<number, FollowedRows>()
    for (const [from, to] of snapshot.viewRanges(slot))
      for (const height of heights(to - from + 1, from)) {
        const { blockHash: hash, count, root } = snapshot.viewRows(slot, height) ?? assert.fail()
        found.set(height, { hash, count, root })
      }
    return found
  })
}

/** Whether the application has a View of these heights, signed by the Host. */
export const hasSigned = (
  client: FollowClient,
  view: HostedView,
  wanted: readonly number[],
): boolean =>
  wanted.every((height) => client.signersOf(view.id, height).includes(hostSigner.identity))

/** Waits until the Host has signed so many blocks. */
export function untilSigned(
  { store }: Pick<FollowRoom, 'store'>,
  wanted: readonly number[],
): Promise<void> {
  return until(() =>
    store.reader.read((snapshot) =>
      wanted.every((height) => snapshot.rowStatements(height).length > 0),
    ),
  )
}

/** The kinds of the frames that came, but for those that come by the clock. */
export const kinds = (client: FollowClient): string[] =>
  client.frames.map(({ kind }) => kind).filter((kind) => kind !== 'head')

/** Makes the rows of a View that is not computed count. */
export function trustRows({ putRecord }: StoreWriter, { id }: HostedView): Promise<void> {
  const record = encodeViewRecord({ runtime: runtimeVersion, quarantine: null })
  return putRecord(viewRecordName(id), record)
}
