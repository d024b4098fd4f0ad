/** Whether replicas that know each other know anybody else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import {
  type Referred,
  referredGenerators,
} from '../../../../operator/reconcile/fetch/generator-peers.ts'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { peersStatement } from '../../../../operator/reconcile/status/observed-conditions.ts'
import { peerID, readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const generator: Generator = {
  ...readGenerator('generator-minimal'),
  status: { nodes: [{ ordinal: 0, peerID }] },
}
const { name, namespace } = generator.metadata
const minimal = readHost('host-minimal')
const host: Host = { ...minimal, spec: { ...minimal.spec, generators: [{ name, namespace }] } }
const referred: readonly Referred[] = referredGenerators(host, () => generator)

function viewOf(id: string, peers: readonly string[]): HealthView {
  const p2p = { self: { id }, peers: peers.map((peer) => ({ id: peer })) }
  return parseHealth(JSON.stringify({ program: 'host', p2p })) ?? assert.fail('this is no report')
}

/** What is said where replicas with these names have these peers. */
function said(peers: Readonly<Record<string, readonly string[]>>, of = host): string {
  const views = new Map(
    Object.entries(peers).map(([id, own], ordinal) => [ordinal, viewOf(id, own)]),
  )
  const { reason, message } = peersStatement(of, { referred, changed: [], views })
  return `${reason}: ${message}`
}

test('replicas that have a peer elsewhere, and each other, are connected', () => {
  assert.equal(
    said({ first: [peerID, 'second'], second: ['first', peerID] }),
    'Connected: Every replica that answers has a peer.',
  )
})

test('replicas that know nobody but each other are not', () => {
  assert.match(
    said({ first: ['second', 'third'], second: ['first'], third: ['first'] }),
    /^NotConnected: No peer but each other at replica 0, 1, 2/,
  )
  assert.match(
    said({ first: ['second'], second: ['first'], third: [] }),
    /^NotConnected: No peer but each other at replica 0, 1, 2/,
  )
  assert.match(
    said({ first: [peerID], second: ['third'], third: ['second'] }),
    /^NotConnected: No peer but each other at replica 1, 2/,
  )
})

test('a replica that is reached through others is, and the message says which', () => {
  assert.match(
    said({ first: ['second'], second: ['first', 'third'], third: ['second', peerID] }),
    /^ConnectedInPart: Every replica that answers has a peer\. Of those replica 0, 1 have no peer but other replicas/,
  )
  assert.match(said({ first: ['second'], second: [peerID] }), /Of those replica 0 has no peer but/)
})

test('a replica that did not answer this time is no peer elsewhere', () => {
  const known = { ...host, status: { nodes: [{ ordinal: 1, peerID: 'second' }] } }
  assert.match(said({ first: ['second'] }, known), /^NotConnected: No peer but each other/)
})

test('a replica that says the ID of the Generator does not make that a replica', () => {
  assert.match(said({ first: [peerID], [peerID]: ['first'] }), /^ConnectedInPart/)
})
