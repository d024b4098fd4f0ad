/** What `/health` says where nobody is accepted: why, and what would help. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AcceptedSource } from '../../../src/host/trust/accepted-list.ts'
import {
  anyoneFailure,
  hostFailures,
  type TrustFacts,
  trustFailures,
} from '../../../src/host/trust/trust-failures.ts'
import type { PeerIdentity } from '../../../src/mesh/peer-identity.ts'
import { assertExplained } from '../../docs/support/explained.ts'

const nobody: TrustFacts = {
  mode: 'bootstrap',
  list: { sources: () => [], changed: () => [] },
  peers: [],
  proven: new Map(),
  file: null,
}
const listedSigner: AcceptedSource = { identity: 'a', source: 'setting', peer: null }
const aHost: PeerIdentity = { role: 'host', identity: '02'.repeat(33) }

const cases: readonly [why: string, facts: Partial<TrustFacts>, said: RegExp][] = [
  ['without peers', {}, /: BOOTSTRAP_PEERS is empty\./],
  [
    'with peers that are away',
    { peers: ['a'] },
    /no bootstrap peer has proved to be a Generator yet\./,
  ],
  [
    'behind a Host',
    { peers: ['a'], proven: new Map([['a', aHost]]) },
    /: the bootstrap peer a is a Host\. .*behind another Host only the latter works/,
  ],
  [
    'behind two Hosts',
    {
      peers: ['a', 'b'],
      proven: new Map([
        ['a', aHost],
        ['b', aHost],
      ]),
    },
    /: the bootstrap peer a is a Host, like others\./,
  ],
  [
    'behind a Host, with a Generator that is away',
    { peers: ['a', 'b'], proven: new Map([['a', aHost]]) },
    /the bootstrap peer a is a Host, and none of the other 1 has proved/,
  ],
  [
    'with a list that is empty',
    { mode: 'signers' },
    /HOST_TRUST is signers, and none is named\. .*HOST_TRUSTED_SIGNERS_FILE/,
  ],
]

for (const [why, facts, said] of cases) {
  test(`HOST_NO_SIGNER ${why}`, () => {
    const [failure, ...others] = trustFailures({ ...nobody, ...facts })
    assert.equal(failure?.code, 'HOST_NO_SIGNER')
    assert.match(`${failure.message} ${failure.remedy}`, said)
    assert.deepEqual(others, [])
  })
}

test('where anyone is trusted that is all there is to say', () => {
  assert.deepEqual(trustFailures({ ...nobody, mode: 'anyone' }), [anyoneFailure])
})

test('a file of signers that is not there comes before what follows from it', () => {
  const file = { path: '/etc/signers', values: () => [], problem: () => 'ENOENT' }
  const failures = trustFailures({ ...nobody, mode: 'signers', file })
  assert.deepEqual(
    failures.map(({ code }) => code),
    ['HOST_SIGNERS_FILE_UNUSABLE', 'HOST_NO_SIGNER'],
  )
  for (const failure of failures) assertExplained(failure)
  assert.equal(
    failures[0]?.message,
    'HOST_TRUSTED_SIGNERS_FILE (/etc/signers) cannot be used, there is no such file; nobody is accepted by it.',
  )
})

test('a file that became unusable keeps its last good list', () => {
  const file = {
    path: '/etc/signers',
    values: () => ['a', 'b'],
    problem: () => 'line 2 cannot be read',
  }
  const sources = (): AcceptedSource[] =>
    file.values().map((identity) => ({ identity, source: 'file', peer: null }))
  const list = { sources, changed: () => [] }
  const [failure, ...others] = trustFailures({ ...nobody, mode: 'signers', list, file })
  assert.deepEqual(others, [])
  assert.match(`${failure?.message}`, /line 2 cannot be read; its last good list of 2 stays\./)
})

test('a file without a problem is no failure', () => {
  const file = { path: '/etc/identities', values: () => [], problem: () => null }
  const list = { sources: (): AcceptedSource[] => [listedSigner], changed: () => [] }
  assert.deepEqual(trustFailures({ ...nobody, list, file }), [])
  assert.deepEqual(hostFailures({ list, siblings: list, file }), [])
  assert.deepEqual(hostFailures({ list, siblings: list, file: null }), [])
})

test('a file of Hosts that is not there is a failure', () => {
  const file = { path: '/etc/hosts', values: () => [], problem: () => 'ENOENT' }
  const [failure, ...others] = hostFailures({ list: nobody.list, siblings: nobody.list, file })
  assert.ok(failure)
  assertExplained(failure)
  assert.equal(failure.code, 'HOST_TRUSTED_HOSTS_FILE_UNUSABLE')
  assert.deepEqual(others, [])
})
