/** Which keys a resource is said to have, and which of them it shows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdKeys } from '../../../../operator/reconcile/apply/hold-keys.ts'
import type { HeldKey } from '../../../../operator/reconcile/fetch/key-holders.ts'
import type { ReplicaIdentity } from '../../../../operator/reconcile/observe/claim.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-minimal')
const bare: ReplicaIdentity = { ordinal: 0, key: null, claim: null, known: null }
const known = (fingerprint: string): Pick<ReplicaIdentity, 'known'> => ({
  known: { fingerprint, claimUID: 'claim' },
})
const claim = (fingerprint: string): Pick<ReplicaIdentity, 'claim'> => ({
  claim: { uid: 'claim', fingerprint, isTerminating: false, volumeName: null },
})

/** Each key that the resource is said to have, with a mark where it is shown. */
function heldBy(identities: readonly ReplicaIdentity[]): string[] {
  const said: HeldKey[] = []
  const holders = {
    hold: (owner: string, keys: readonly HeldKey[]) => {
      assert.equal(owner, 'apps/mainnet')
      said.push(...keys)
      return []
    },
    release: () => undefined,
  }
  const { log } = captureLog()
  holdKeys({ holders, memory: { keyHolders: '' }, run: { log } }, host, identities)
  return said.map(({ fingerprint, isShown }) => (isShown ? `${fingerprint}!` : fingerprint))
}

test('a key is shown where the status or the claim of its replica has it as well', () => {
  const key = 'new'
  assert.deepEqual(heldBy([{ ...bare, key }]), ['new'])
  assert.deepEqual(heldBy([{ ...bare, key, ...claim('new') }]), ['new!'])
  assert.deepEqual(heldBy([{ ...bare, key, ...known('new') }]), ['new!', 'new!'])
})

test('a key of before is said only, also where another is shown', () => {
  assert.deepEqual(heldBy([{ ...bare, ...known('old') }]), ['old'])
  assert.deepEqual(heldBy([{ ...bare, key: 'new', ...known('old'), ...claim('new') }]), [
    'new!',
    'old',
  ])
  assert.deepEqual(heldBy([bare]), [])
  assert.deepEqual(heldBy([{ ...bare, key: 'one' }, bare, { ...bare, key: 'two' }]), ['one', 'two'])
})

test('who has a key of a resource as well is returned, and named to admins in the log, once', () => {
  const shared = [{ holder: 'other/one', fingerprint: 'abc' }]
  const holders = { hold: () => shared, release: () => undefined }
  const memory = { keyHolders: '' }
  const { log, lines } = captureLog()
  for (const _ of [1, 2])
    assert.deepEqual(holdKeys({ holders, memory, run: { log } }, host, [bare]), shared)
  assert.deepEqual(
    lines.map(({ level, holders: named }) => [level, named]),
    [['warn', ['other/one']]],
  )
})
