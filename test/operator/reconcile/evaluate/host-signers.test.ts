/** The accepted signers of a Host whose spec names Generators. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import {
  type HostSigners,
  hostSigners,
} from '../../../../operator/reconcile/evaluate/host-signers.ts'
import { referredGenerators } from '../../../../operator/reconcile/fetch/generator-peers.ts'
import {
  identity,
  peerID,
  readGenerator,
  readHost,
} from '../../../support/resources/operator-cases.ts'

const other = `03${'a'.repeat(64)}`
const third = `02${'b'.repeat(64)}`
const minimal = readHost('host-minimal')
const { namespace } = minimal.metadata

/** A Host that names two Generators of its namespace. */
const naming = (more: { readonly signers?: object; readonly accepting?: string } = {}): Host => ({
  ...minimal,
  metadata: {
    ...minimal.metadata,
    annotations:
      more.accepting === undefined ? {} : { 'viewmesh.io/accept-signers': more.accepting },
  },
  spec: { ...minimal.spec, generators: [{ name: 'first' }, { name: 'second' }] },
  status: {
    signers: Object.entries(more.signers ?? {}).map(([name, found]) => ({
      generator: `${namespace}/${name}`,
      identity: String(found),
    })),
  },
})

/** A Generator that says this identity, or none yet. */
function saying(name: string, said?: string): Generator {
  const base = readGenerator('generator-minimal')
  const node = { ordinal: 0, peerID, ...(said === undefined ? {} : { identity: said }) }
  return {
    ...base,
    metadata: { ...base.metadata, name, namespace },
    status: { nodes: [node] },
  }
}

function signersOf(host: Host, ...seen: readonly Generator[]): HostSigners {
  const found = (name: string): Generator | null =>
    seen.find(({ metadata }) => metadata.name === name) ?? null
  return hostSigners(
    host,
    referredGenerators(host, (_, name) => found(name)),
  )
}

interface Summary {
  readonly accepted: Readonly<Record<string, string>>
  readonly peers: readonly string[]
}

/** The Generators of whom an identity is accepted, with that, and those whose addresses the Host gets. */
function summary({ accepted, peers }: HostSigners): Summary {
  return {
    accepted: Object.fromEntries(
      accepted.map((one) => [one.generator.slice(namespace.length + 1), one.identity]),
    ),
    peers: peers.map(({ reference }) => reference.name),
  }
}

test('what a Generator says first is accepted, and of one that has said nothing nothing is', () => {
  const found = signersOf(naming(), saying('first', identity), saying('second'))
  assert.deepEqual(summary(found), { accepted: { first: identity }, peers: ['first', 'second'] })
  assert.deepEqual(found.unknown, [`${namespace}/second`])
  assert.deepEqual(found.changed, [])
})

test('what was accepted stays while its Generator does not answer, and when it is gone', () => {
  const host = naming({ signers: { first: identity, second: other } })
  const accepted = { first: identity, second: other }
  assert.deepEqual(summary(signersOf(host)).accepted, accepted)
  const silent = signersOf(host, saying('first'), saying('second', other))
  assert.deepEqual(summary(silent), { accepted, peers: ['second'] })
  assert.deepEqual(silent.changed, [])
})

test('another identity is reported and not accepted, and its Generator’s address is withheld', () => {
  const host = naming({ signers: { first: identity } })
  const found = signersOf(host, saying('first', other), saying('second', third))
  assert.deepEqual(summary(found), {
    accepted: { first: identity, second: third },
    peers: ['second'],
  })
  const generator = `${namespace}/first`
  assert.deepEqual(found.changed, [{ generator, identity, said: other }])
})

test('a person accepts the identity that they name, and no other', () => {
  const signers = { first: identity, second: identity }
  const host = naming({ signers, accepting: `${third}, ${other}` })
  const found = signersOf(host, saying('first', other), saying('second', `02${'c'.repeat(64)}`))
  assert.deepEqual(summary(found), {
    accepted: { first: other, second: identity },
    peers: ['first'],
  })
})

test('the annotation may stay: once an identity is accepted, it is another one that changed', () => {
  const host = naming({ signers: { first: other }, accepting: other })
  const [changed] = signersOf(host, saying('first', identity)).changed
  assert.deepEqual([changed?.identity, changed?.said], [other, identity])
})

test('a Generator that the spec names no longer is forgotten, and of the others nothing changes', () => {
  const host = naming({ signers: { first: identity, second: other } })
  const left: Host = { ...host, spec: { ...host.spec, generators: [{ name: 'second' }] } }
  assert.deepEqual(summary(signersOf(left)).accepted, { second: other })
})

test('what is no identity is not taken, wherever it comes from', () => {
  const host = naming({ signers: { first: 'edited' }, accepting: 'me' })
  const found = signersOf(host, saying('first', 'me'), saying('second', `${identity}\n${other}`))
  assert.deepEqual(summary(found), { accepted: {}, peers: ['first', 'second'] })
})

test('a chain ID that a Generator says for a while has nothing accepted of it forgotten', () => {
  const named = naming({ signers: { first: identity } })
  const host: Host = { ...named, spec: { ...named.spec, chain: { ...named.spec.chain, id: 1 } } }
  const onChain = (said: string, chainID: number): Generator => {
    const found = saying('first', said)
    const nodes = found.status?.nodes?.map((node) => ({ ...node, chainID }))
    return { ...found, status: { nodes: nodes ?? [] } }
  }
  const away = signersOf(host, onChain(other, 5))
  assert.deepEqual(summary(away).accepted, {})
  assert.deepEqual(away.remembered, [{ generator: `${namespace}/first`, identity }])
  const [changed] = signersOf(host, onChain(other, 1)).changed
  assert.deepEqual([changed?.identity, changed?.said], [identity, other])
})

test('a Generator of another chain signs nothing that counts', () => {
  const sepolia = saying('first', identity)
  const chain = { name: 'Ethereum', network: 'Sepolia' }
  const found = signersOf(naming(), { ...sepolia, spec: { ...sepolia.spec, chain } })
  assert.deepEqual(summary(found), { accepted: {}, peers: ['first', 'second'] })
  assert.deepEqual(found.remembered, [])
})

test('a Generator that is named twice counts once', () => {
  const host = naming()
  const twice: Host = {
    ...host,
    spec: { ...host.spec, generators: [{ name: 'first' }, { name: 'first', namespace }] },
  }
  assert.equal(signersOf(twice, saying('first', identity)).accepted.length, 1)
})
