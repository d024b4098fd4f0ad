/** Which groups of heights are fetched of a peer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differingGroups } from '../../../src/host/sync/differing-groups.ts'

type Compared = Parameters<typeof differingGroups>[0]
type Digest = Compared['ours'][number]

/** Heights 70 to 300, which are in groups 1 to 4. */
const differing = (ours: readonly Digest[], theirs: readonly Digest[]) =>
  differingGroups({ heights: { from: 70, to: 300 }, identities: ['alice', 'bob'], ours, theirs })
const said = (identity: string, group: number, digest = 'theirs'): Digest => {
  return { identity, group, digest }
}

test('groups that a peer has more of are fetched, cut at the heights that are compared', () => {
  const theirs = [0, 1, 2, 4, 5].map((group) => said('alice', group))
  assert.deepEqual(differing([said('alice', 2, 'ours')], theirs), [
    { identity: 'alice', heights: { from: 70, to: 127 } },
    { identity: 'alice', heights: { from: 128, to: 191 } },
    { identity: 'alice', heights: { from: 256, to: 300 } },
  ])
})

test('what is the same, what only we have and what nobody asked for is not fetched', () => {
  const ours = [said('alice', 1), said('bob', 3)]
  assert.deepEqual(differing(ours, [said('alice', 1), said('carol', 2)]), [])
})

test('a group is fetched once of each identity, however often the peer names it', () => {
  const theirs = [said('alice', 2, 'one'), said('alice', 2, 'two'), said('bob', 2, 'one')]
  const heights = { from: 128, to: 191 }
  assert.deepEqual(differing([said('alice', 2, 'two'), said('alice', 3, 'one')], theirs), [
    { identity: 'alice', heights },
    { identity: 'bob', heights },
  ])
})
