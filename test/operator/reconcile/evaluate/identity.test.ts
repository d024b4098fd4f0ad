import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Host } from '../../../../operator/api.ts'
import { planIdentity, sharedKeyProblem } from '../../../../operator/reconcile/evaluate/identity.ts'
import type { ReplicaIdentity } from '../../../../operator/reconcile/observe/claim.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-minimal')
const own: Host = {
  ...host,
  spec: { ...host.spec, identity: { ...host.spec.identity, secretRef: { name: 'mine' } } },
}

const claim = { uid: 'claim', fingerprint: 'abc', isTerminating: false, volumeName: 'pv-1' }

const known = { fingerprint: 'abc', claimUID: 'claim' }

const replica: ReplicaIdentity = { ordinal: 0, key: 'abc', claim, known }

const reasonOf = (given: Partial<ReplicaIdentity>, of: Host = host): string | null => {
  const plan = planIdentity(of, [{ ...replica, ...given }], true)
  return plan.problem?.reason ?? plan.lack?.reason ?? null
}

const generated = (given: Partial<ReplicaIdentity>): readonly number[] =>
  planIdentity(host, [{ ...replica, ...given }], true).generate

test('a key that the claim was marked with goes on', () => {
  assert.equal(reasonOf({}), null)
  assert.equal(reasonOf({ known: null }), null)
})

test('a first replica gets a key, and its claim is marked later', () => {
  const fresh = { key: null, claim: null, known: null }
  assert.deepEqual(generated(fresh), [0])
  assert.equal(reasonOf({ claim: { ...claim, fingerprint: null }, known: null }), null)
})

test('a changed key is a conflict that names Secret, key and remedy', () => {
  const plan = planIdentity(host, [{ ...replica, key: 'other' }], true)
  assert.equal(plan.problem?.reason, 'IdentityConflict')
  assert.equal(
    plan.problem?.message,
    'The key "0" of Secret mainnet-host-keyring has the fingerprint other, but the key directory on claim keys-mainnet-host-0 opens with abc: put the original value back from your backup. No pod is touched meanwhile.',
  )
})

test('a missing key is never made again where the claim or the status knows it', () => {
  assert.equal(reasonOf({ key: null }), 'KeyringMissing')
  assert.equal(reasonOf({ key: null, known: null }), 'KeyringMissing')
  assert.equal(reasonOf({ key: null, claim: null }), 'KeyringMissing')
  const unmarked = { ...claim, fingerprint: null }
  assert.equal(reasonOf({ key: null, known: null, claim: unmarked }), 'KeyringMissing')
})

test('a lost, dying or replaced keys claim stops everything', () => {
  assert.equal(reasonOf({ claim: null }), 'KeysClaimMissing')
  assert.equal(reasonOf({ claim: { ...claim, isTerminating: true } }), 'KeysClaimMissing')
  const empty = { uid: 'another', fingerprint: null, isTerminating: false, volumeName: null }
  assert.equal(reasonOf({ claim: empty }), 'KeysClaimMissing')
})

test('a lost keys claim says by which annotation a restored one is known', () => {
  const messageOf = (given: Partial<ReplicaIdentity>): string =>
    planIdentity(host, [{ ...replica, ...given }], true).problem?.message ?? ''
  const gone = messageOf({ claim: null })
  assert.match(gone, /^Claim keys-mainnet-host-0 is gone, and with it/)
  assert.ok(
    gone.includes(
      'restore the claim from your backup, or bind it to its old volume where that was kept, with the annotation viewmesh.io/keyring-fingerprint: "abc"; to begin with new keys under the same peer ID, delete the Host and create the Host again.',
    ),
    gone,
  )
  const going = messageOf({ claim: { ...claim, isTerminating: true } })
  assert.match(going, /^Claim keys-mainnet-host-0 is being deleted, and with it/)
  const ofNobody = messageOf({ claim: { ...claim, isTerminating: true }, known: null })
  for (const message of [going, ofNobody])
    assert.ok(message.includes('delete pod mainnet-host-0 and the Host and create'), message)
  assert.ok(
    going.includes(
      `: keep its volume by kubectl patch pv pv-1 --patch '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}', then kubectl delete pod mainnet-host-0 --namespace apps, which holds the claim; once the claim is gone, kubectl patch pv pv-1 --type json --patch '[{"op":"remove","path":"/spec/claimRef/uid"}]', and create the claim again with volumeName pv-1, with the annotation viewmesh.io/keyring-fingerprint: "abc"; to`,
    ),
    going,
  )
  assert.ok(!going.includes('backup'), going)
  const unbound = messageOf({ claim: { ...claim, isTerminating: true, volumeName: null } })
  assert.ok(unbound.includes('restore the claim from your backup'), unbound)
  const empty = messageOf({
    claim: { uid: 'another', fingerprint: null, isTerminating: false, volumeName: null },
  })
  assert.match(empty, /^Claim keys-mainnet-host-0 was replaced by an empty one, and with it/)
  assert.ok(empty.includes('delete this claim and the Host and create'), empty)
})

const deleting: Host = {
  ...host,
  spec: { ...host.spec, identity: { ...host.spec.identity, deletionPolicy: 'Delete' } },
}

const retainFirst =
  'first set spec.identity.deletionPolicy to Retain and wait until this message asks for that no more, since the keys of all replicas would be deleted with the Host; then '

test('where keys go with the resource, no advice is to delete it before they are to stay', () => {
  const messageOf = (given: Partial<ReplicaIdentity>, of: Host, isBound?: boolean): string =>
    planIdentity(of, [{ ...replica, ...given }], true, isBound).problem?.message ?? ''
  const lost = messageOf({ claim: null }, deleting)
  assert.ok(
    lost.includes(`; to begin with new keys under the same peer ID, ${retainFirst}delete the Host`),
    lost,
  )
  const missing = messageOf({ key: null }, deleting)
  assert.ok(
    missing.includes(`to begin with a new identity, ${retainFirst}delete this claim and`),
    missing,
  )
  assert.ok(!messageOf({ claim: null }, host).includes('Retain'))
  assert.ok(messageOf({ claim: null }, host, true).includes(retainFirst), 'until that is done')
  const paused = messageOf(
    { claim: null },
    { ...deleting, spec: { ...deleting.spec, paused: true } },
  )
  assert.ok(
    paused.includes('set spec.identity.deletionPolicy to Retain and spec.paused to false and wait'),
    paused,
  )
  const shared = sharedKeyProblem(deleting, [replica], [{ holder: 'a/b', fingerprint: 'abc' }])
  assert.ok(shared?.message.includes(`is there already, ${retainFirst}delete it`), shared?.message)
})

test('a claim whose identity nobody remembers is all that has to go before a new one begins', () => {
  const messageOf = (given: Partial<ReplicaIdentity>): string =>
    planIdentity(host, [{ ...replica, key: null, ...given }], true).problem?.message ?? ''
  assert.equal(
    messageOf({ known: null }),
    'The key "0" of Secret mainnet-host-keyring is missing, and the key directory on claim keys-mainnet-host-0 opens with nothing else (fingerprint abc): put the value back from your backup; to begin with a new identity, delete this claim. No pod is touched meanwhile.',
  )
  const remembered = messageOf({})
  assert.ok(remembered.includes('delete this claim and the Host and create the Host again'))
  const unmarked = messageOf({ known: null, claim: { ...claim, fingerprint: null } })
  assert.ok(unmarked.includes('opens with nothing else (fingerprint unknown)'), unmarked)
})

test('what stops a replica after the first says how those before it go on', () => {
  const two: Host = { ...host, spec: { ...host.spec, replicas: 2 } }
  const second: ReplicaIdentity = {
    ordinal: 1,
    key: 'other',
    claim: { uid: 'second', fingerprint: 'other', isTerminating: false, volumeName: null },
    known: { fingerprint: 'other', claimUID: 'second' },
  }
  const messageOf = (given: Partial<ReplicaIdentity>): string =>
    planIdentity(two, [replica, { ...second, ...given }], true).problem?.message ?? ''
  for (const given of [{ claim: null }, { key: null }, { key: 'wrong' }]) {
    const reported = messageOf(given)
    assert.ok(
      reported.includes(
        '; or have the replicas before it go on without it: set spec.replicas, or the maximum of what scales it, to 1 or less. ',
      ),
      reported,
    )
    const one: Host = { ...two, spec: { ...two.spec, replicas: 1 } }
    assert.equal(planIdentity(one, [replica, { ...second, ...given }], true).problem, null)
  }
})

test('a lost keys claim says what becomes of the other replicas', () => {
  const three: Host = { ...host, spec: { ...host.spec, replicas: 3 } }
  const messageOf = (of: Host): string =>
    planIdentity(of, [{ ...replica, claim: null }], true).problem?.message ?? ''
  assert.match(messageOf(host), /No pod is touched meanwhile, and none is started again\.$/)
  assert.match(
    messageOf(three),
    /All pods that run go on meanwhile, .* until this is mended no replica is started again, moved, scaled or updated, and draining a machine with one of them may be refused\.$/,
  )
})

test('a claim restored from a backup with its mark goes on', () => {
  assert.equal(reasonOf({ claim: { ...claim, uid: 'restored' } }), null)
})

test('a mark that was edited or removed on the claim that is remembered is put back', () => {
  assert.equal(reasonOf({ claim: { ...claim, fingerprint: null } }), null)
  assert.equal(reasonOf({ claim: { ...claim, fingerprint: 'edited' } }), null)
})

test('a Secret of the user is never written: what it lacks is reported', () => {
  const fresh: ReplicaIdentity = { ordinal: 0, key: null, claim: null, known: null }
  const plan = planIdentity(own, [fresh], false)
  assert.deepEqual(plan.generate, [])
  assert.deepEqual(plan.lack, {
    reason: 'SecretMissing',
    message:
      'Secret mine of identity.secretRef does not exist: create it with "0", each a secret of at least 32 random characters of its own, and keep a copy: kubectl create secret generic mine --namespace apps --from-literal=0="$(openssl rand -base64 32)"',
  })
  assert.equal(planIdentity(own, [fresh], true).lack?.reason, 'KeyMissing')
  assert.equal(reasonOf({}, own), null)
})

test('two replicas with one key are refused, with the names of both and the way out', () => {
  const two: Host = { ...own, spec: { ...own.spec, replicas: 2 } }
  const fresh: ReplicaIdentity = { ordinal: 0, key: 'abc', claim: null, known: null }
  assert.deepEqual(planIdentity(two, [fresh, { ...fresh, ordinal: 1 }], true).problem, {
    reason: 'DuplicateKey',
    message:
      'Keys "0" and "1" of Secret mine are equal, so replicas 0 and 1 would have one peer ID: give "1" a secret of its own, of at least 32 random characters; where claim keys-mainnet-host-1 is there already, delete it and the Host too, and create the Host again. No pod is touched meanwhile.',
  })
  const other = { ...fresh, ordinal: 1, key: 'other' }
  assert.equal(planIdentity(two, [fresh, other], true).problem, null)
})

test('a key that another resource has is refused, with the name of that one and the way out', () => {
  assert.deepEqual(
    sharedKeyProblem(own, [replica], [{ holder: 'apps/main', fingerprint: 'abc' }]),
    {
      reason: 'DuplicateKey',
      message:
        'Key "0" of Secret mine is a key of Host apps/main too, so replica 0 would have the peer ID of one there: give "0" a secret of its own, of at least 32 random characters; where claim keys-mainnet-host-0 is there already, delete it and the Host too, and create the Host again; or delete one of the two. No pod is touched meanwhile.',
    },
  )
  assert.equal(sharedKeyProblem(own, [replica], []), null)
  const second = { ...replica, ordinal: 1, key: 'other' }
  const shared = [{ holder: 'apps/main', fingerprint: 'other' }]
  const { message } = sharedKeyProblem(own, [replica, second], shared) ?? assert.fail()
  assert.match(message, /^Key "1" of Secret mine is a key of Host apps\/main too/)
})

test('a resource of another namespace that has a key is not named to who reads the status', () => {
  assert.deepEqual(
    sharedKeyProblem(own, [replica], [{ holder: 'shop/main', fingerprint: 'abc' }]),
    {
      reason: 'DuplicateKey',
      message:
        'Key "0" of Secret mine is a key of a Host in another namespace too, so replica 0 would have the peer ID of one there: give "0" a secret of its own, of at least 32 random characters; where claim keys-mainnet-host-0 is there already, delete it and the Host too, and create the Host again; or delete this Host, or ask your cluster admin, to whom the operator\'s log names the other one. No pod is touched meanwhile.',
    },
  )
})

test('whatever is known of an identity, no key is made while anything is left of it', () => {
  const mark = fc.constantFrom('abc', 'other')
  const claims = fc.option(
    fc.record({
      uid: fc.constantFrom('claim', 'another'),
      fingerprint: fc.option(mark),
      isTerminating: fc.boolean(),
      volumeName: fc.constant(null),
    }),
  )
  const knowledge = fc.option(
    fc.record({ fingerprint: mark, claimUID: fc.option(fc.constantFrom('claim', 'another')) }),
  )
  fc.assert(
    fc.property(fc.option(mark), claims, knowledge, (key, found, remembered) => {
      const given = { ordinal: 0, key, claim: found, known: remembered }
      const plan = planIdentity(host, [given], true)
      if (plan.generate.length > 0) {
        assert.deepEqual([key, found, remembered], [null, null, null])
      }
    }),
  )
})
