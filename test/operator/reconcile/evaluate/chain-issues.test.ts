/** Replicas of one Host on different chains, and a Host on another chain than its Generators, by block 0. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import { chainIssues } from '../../../../operator/reconcile/evaluate/chain-issues.ts'
import { signersStatement } from '../../../../operator/reconcile/evaluate/signers-statement.ts'
import { referredGenerators } from '../../../../operator/reconcile/fetch/generator-peers.ts'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { startingState, toHealthReport } from '../../../../src/service/health/health-report.ts'
import { peerID, readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const [first, second, third] = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(32)}`)
const minimal = readHost('host-minimal')
const { name, namespace } = minimal.metadata
const naming = (replicas: number, nodes: readonly (string | undefined)[] = []): Host => ({
  ...minimal,
  spec: { ...minimal.spec, replicas, generators: [{ name: 'one' }, { name: 'two' }] },
  status: {
    nodes: nodes.map((genesis, ordinal) => ({ ordinal, ...(genesis && { genesis }) })),
  },
})

function generator(given: string, genesis?: string, chain = minimal.spec.chain): Generator {
  const base = readGenerator('generator-minimal')
  return {
    ...base,
    metadata: { ...base.metadata, name: given, namespace },
    spec: { ...base.spec, chain },
    status: { nodes: [{ ordinal: 0, peerID, ...(genesis === undefined ? {} : { genesis }) }] },
  }
}

/** What is read of a replica that stores this chain. */
function storing(genesis: string | undefined, ...codes: readonly string[]): HealthView {
  const errors = codes.map((code) => ({ code, message: 'It is so.' }))
  const state = { ...startingState('Ethereum', 'Mainnet'), trust: 'bootstrap' as const, errors }
  const context = { program: 'host', version: '1.2.3', startedMs: 0, nowMs: 1_000 } as const
  const report = toHealthReport({ ...state, genesis: genesis ?? null }, context)
  return parseHealth(JSON.stringify(report)) ?? assert.fail()
}

function issuesOf(
  host: Host,
  views: readonly (HealthView | null)[],
  ...generators: readonly Generator[]
): ReturnType<typeof chainIssues> {
  const found = (wanted: string): Generator | null =>
    generators.find(({ metadata }) => metadata.name === wanted) ?? null
  const referred = referredGenerators(host, (_, wanted) => found(wanted))
  return chainIssues(host, { referred, views: new Map(views.entries()) })
}

const fetchAgain = (ordinal: number): string =>
  `kubectl delete pvc data-${name}-host-${ordinal} --wait=false, then kubectl delete pod ${name}-host-${ordinal}`

test('replicas and Generators of one block 0, or of none that is known, are no issue', () => {
  const views = [storing(first), storing(first), storing(undefined)]
  assert.deepEqual(issuesOf(naming(3), views, generator('one', first), generator('two')), [])
  assert.deepEqual(issuesOf(naming(1), [storing(undefined)], generator('one', first)), [])
})

test('replicas on different chains are reported, with those that no Generator is with', () => {
  const views = [storing(first), storing(second), storing(first)]
  assert.deepEqual(issuesOf(naming(3), views, generator('one', second)), [
    {
      reason: 'ReplicasDiffer',
      what: `Replicas store different chains of one name, and the Service answers from all of them: replica 0, 2 with block 0 0xaaaaaaaaaaaa…; replica 1 with block 0 0xbbbbbbbbbbbb…. Generator ${namespace}/one reads that with 0xbbbbbbbbbbbb….`,
      remedy: `Have those that no Generator is with fetch their blocks again, for replica 0: ${fetchAgain(0)}.`,
    },
  ])
})

test('where no Generator says which chain is right, a person decides', () => {
  const [issue] = issuesOf(naming(2), [storing(first), storing(second)])
  assert.match(issue?.remedy ?? '', /^See which chain is right, and have the other replicas fetch/)
  assert.match(issue?.what ?? '', /; replica 1 with block 0 0xbbbbbbbbbbbb…\.$/)
  const [unlike] = issuesOf(naming(2), [storing(first), storing(second)], generator('one', third))
  assert.match(unlike?.remedy ?? '', /^See which chain is right/)
  const both = [generator('one', first), generator('two', second)]
  const [split] = issuesOf(naming(2), [storing(first), storing(second)], ...both)
  assert.match(split?.remedy ?? '', /^See which chain is right.*, for replica 0: /)
})

test('a chain that one of several Generators reads is not among those that no Generator is with', () => {
  const generators = [generator('one', first), generator('two', third)]
  const [issue] = issuesOf(naming(2), [storing(first), storing(second)], ...generators)
  assert.equal(
    issue?.remedy,
    `Have those that no Generator is with fetch their blocks again, for replica 1: ${fetchAgain(1)}.`,
  )
})

test('it lasts while a replica does not answer, or has no pod, and ends with its new store', () => {
  const host = naming(2, [first, second])
  assert.equal(issuesOf(host, [storing(first), null])[0]?.reason, 'ReplicasDiffer')
  assert.equal(issuesOf(host, [storing(first)])[0]?.reason, 'ReplicasDiffer')
  assert.equal(issuesOf(host, [null, null])[0]?.reason, 'ReplicasDiffer')
  assert.deepEqual(issuesOf(host, [storing(first), storing(undefined)]), [])
  assert.deepEqual(issuesOf(naming(1, [first, second]), [storing(first)]), [], 'it was removed')
})

test('a Host on another chain than its Generators is reported, though it hears none of them', () => {
  const views = [storing(first), storing(first)]
  const [issue, ...others] = issuesOf(naming(2), views, generator('one', second))
  assert.deepEqual(others, [])
  assert.deepEqual(issue, {
    reason: 'ChainMismatch',
    what: `At replica 0, 1 the chain with block 0 0xaaaaaaaaaaaa… is stored; Generator ${namespace}/one reads that with 0xbbbbbbbbbbbb….`,
    remedy: `Where the chain was created again, have its blocks fetched again: ${fetchAgain(0)}; else take that Generator off spec.generators.`,
  })
  const failing = [storing(first, 'HOST_NO_SIGNER'), storing(first)]
  assert.deepEqual(issuesOf(naming(2), failing, generator('one', second)), [issue])
  const reporting = [storing(first, 'HOST_GENESIS_MISMATCH'), storing(first)]
  assert.deepEqual(
    issuesOf(naming(2), reporting, generator('one', second)),
    [],
    'it says so itself',
  )
})

test('a Generator of another network is no part of it', () => {
  const sepolia = generator('one', second, { name: 'Ethereum', network: 'Sepolia' })
  assert.deepEqual(issuesOf(naming(1), [storing(first)], sepolia), [])
})

test('the condition says it, also while no pod answers', () => {
  const host = naming(2, [first, second])
  const signers = { accepted: [], remembered: [], changed: [], unknown: [], peers: [] }
  const statement = signersStatement(host, { signers, referred: [], views: new Map([[0, null]]) })
  assert.equal(statement.reason, 'ReplicasDiffer')
  assert.match(statement.message, /different chains of one name.* See which chain is right/)
})

test('the condition says it before what else a replica reports', () => {
  const signers = { accepted: [], remembered: [], changed: [], unknown: [], peers: [] }
  const views = new Map([[0, storing(first, 'HOST_NO_SIGNER')]])
  const statement = signersStatement(naming(2, [first, second]), { signers, referred: [], views })
  assert.equal(statement.reason, 'ReplicasDiffer')
  assert.match(statement.message, / Also: Replica 0: It is so \(HOST_NO_SIGNER\)/)
})
