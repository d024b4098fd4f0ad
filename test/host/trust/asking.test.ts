/** Whom a Host asks who it is, and what the writer is sent of the answers: peers that a test connects and answers for. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import type { Accepted } from '../../../src/host/apply/accepted-signers.ts'
import type { SignersFile } from '../../../src/host/trust/signers-file.ts'
import { openTrust, type Trust } from '../../../src/host/trust/trust.ts'
import type { PeerEvent } from '../../../src/p2p/peers/peer-book.ts'
import type { TrustMode } from '../../../src/service/contract.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { until } from '../../support/p2p-room.ts'
import { proofOf } from '../../support/test-generator.ts'
import { openTestStore } from '../../support/test-store.ts'

const network = 'Local__Devnet'
const identityOf = (name: string): string => testSigner(name).identity
const addressesOf = (...peers: readonly string[]): string[] =>
  peers.map((peer) => `/ip4/127.0.0.1/tcp/9/p2p/${peer}`)

interface Question {
  readonly peer: string
  readonly signal: AbortSignal
  /** Proves to be this Generator or Host. */
  prove(name: string, role?: 'generator' | 'host'): Promise<void>
  fail(error: unknown): Promise<void>
}

interface Room {
  readonly trust: Trust
  readonly captured: CapturedLog
  /** What was asked since this was looked at last. */
  asked(): Question[]
  connect(peer: string): void
  disconnect(peer: string): void
  /** What the writer was sent since this was read last. */
  sent(): Accepted[]
  readonly failed: readonly unknown[]
}

/** Lets everything run that waits for nothing outside. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Setup {
  readonly store?: StoreWriter
  readonly listed?: readonly string[]
  readonly file?: SignersFile | null
}

async function open(
  t: TestContext,
  mode: TrustMode = 'bootstrap',
  { listed = [], file = null, ...setup }: Setup = {},
): Promise<Room> {
  const store = setup.store ?? (await openTestStore(t))
  const captured = captureLog()
  const sent: Accepted[] = []
  const questions: Question[] = []
  const failed: unknown[] = []
  const connected = new Set<string>()
  const listeners = new Set<(event: PeerEvent) => void>()
  const emit = (type: PeerEvent['type'], peer: string): void => {
    for (const listener of [...listeners]) listener({ type, peer, announced: null })
  }
  const trust = openTrust(
    { mode, listed, listedHosts: [], own: identityOf('own'), network },
    {
      log: captured.log,
      writer: {
        putRecord: store.putRecord,
        setAccepted: async (accepted) => void sent.push(accepted),
        setAcceptedHosts: async () => undefined,
      },
      reader: store.reader,
      file,
      hostsFile: null,
      onFatal: (error) => failed.push(error),
    },
  )
  t.after(() => trust.close())
  trust.follow({
    peers: () => [...connected].map((id) => ({ id })),
    onPeer: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    penalise: () => assert.fail('nobody is to blame'),
    request: (peer, name, _question, signal) => {
      assert.equal(name, 'identity')
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
      signal.addEventListener('abort', () => reject(signal.reason))
      const prove: Question['prove'] = (who, role) => {
        resolve(proofOf(testSigner(who), peer, role))
        return settled()
      }
      const fail: Question['fail'] = (error) => {
        reject(error)
        return settled()
      }
      questions.push({ peer, signal, prove, fail })
      return promise
    },
  })
  return {
    trust,
    captured,
    asked: () => questions.splice(0),
    connect: (peer) => {
      connected.add(peer)
      emit('connected', peer)
    },
    disconnect: (peer) => {
      connected.delete(peer)
      emit('disconnected', peer)
    },
    sent: () => sent.splice(0),
    failed,
  }
}

const peersOf = (questions: readonly Question[]): string[] => questions.map(({ peer }) => peer)

test('a peer is asked while it is connected and named, and again only after it was away', async (t) => {
  const { trust, asked, connect, disconnect } = await open(t)
  connect('one')
  assert.deepEqual(peersOf(asked()), [])
  trust.setBootstrapPeers(addressesOf('one', 'two'), true)
  const [first = assert.fail(), ...others] = asked()
  assert.deepEqual([first.peer, others], ['one', []])
  connect('two')
  assert.deepEqual(peersOf(asked()), ['two'])
  await first.prove('alice')
  assert.deepEqual(trust.identityOf('one'), { role: 'generator', identity: identityOf('alice') })
  trust.setBootstrapPeers(addressesOf('one', 'two'), true)
  assert.deepEqual(asked(), [])
  disconnect('one')
  assert.equal(trust.identityOf('one'), null)
  connect('one')
  assert.deepEqual(peersOf(asked()), ['one'])
})

test('a question ends with the connection, and a peer that comes back is asked again', async (t) => {
  const { trust, asked, connect, disconnect, failed } = await open(t)
  trust.setBootstrapPeers(addressesOf('one'), true)
  connect('one')
  const [first = assert.fail()] = asked()
  disconnect('one')
  assert.ok(first.signal.aborted)
  connect('one')
  const [second = assert.fail()] = asked()
  await settled()
  connect('another')
  assert.deepEqual(asked(), [], 'the end of the first question is not that of the second')
  await second.prove('alice')
  assert.equal(trust.sources().length, 1)
  assert.deepEqual(failed, [])
})

test('nobody is asked any more once a Host closes its trust', async (t) => {
  const { trust, asked, connect, failed } = await open(t)
  trust.setBootstrapPeers(addressesOf('one', 'two'), true)
  connect('one')
  const [question = assert.fail()] = asked()
  trust.close()
  assert.ok(question.signal.aborted)
  connect('two')
  await settled()
  assert.deepEqual([asked(), failed], [[], []])
})

test('a peer that cannot answer yet is asked again a moment later, other failures are fatal', async (t) => {
  const { trust, asked, connect, failed } = await open(t)
  trust.setBootstrapPeers(addressesOf('one'), true)
  connect('one')
  const [first = assert.fail()] = asked()
  await first.fail(new ServiceError('P2P_ASK_FAILED', 'it is not ready', { remedy: '' }))
  const again: Question[] = []
  await until(() => again.push(...asked()) > 0)
  const [second = assert.fail()] = again
  assert.deepEqual([again.length, failed], [1, []])
  const mistake = new Error('a mistake of ours')
  await second.fail(mistake)
  assert.deepEqual(failed, [mistake])
})

test('a peer that could not answer is not asked again once it is not named any more', async (t) => {
  t.mock.method(Math, 'random', () => 0)
  const { trust, asked, connect } = await open(t)
  trust.setBootstrapPeers(addressesOf('gone', 'stays'), true)
  for (const peer of ['gone', 'stays']) connect(peer)
  for (const question of asked())
    await question.fail(new ServiceError('P2P_ASK_FAILED', 'it is not ready'))
  trust.setBootstrapPeers(addressesOf('stays'), true)
  const again: Question[] = []
  await until(() => again.push(...asked()) > 0)
  assert.deepEqual(peersOf(again), ['stays'])
  trust.setBootstrapPeers(addressesOf('gone', 'stays'), true)
  assert.deepEqual(peersOf(asked()), ['gone'])
})

test('the writer learns who is accepted and how many are awaited, where that changes', async (t) => {
  const { trust, captured, asked, connect, sent } = await open(t)
  const listed = (awaited: number, ...names: readonly string[]): Accepted => ({
    ...{ kind: 'listed', awaited },
    identities: names.map(identityOf),
  })
  assert.deepEqual(sent(), [listed(Number.POSITIVE_INFINITY)])
  trust.setBootstrapPeers(addressesOf('one', 'two', 'three'), false)
  assert.deepEqual(sent(), [])
  trust.setBootstrapPeers(addressesOf('one', 'two', 'three'), true)
  assert.deepEqual(sent(), [listed(3)])
  for (const peer of ['one', 'two', 'three']) connect(peer)
  const [one = assert.fail(), two = assert.fail(), three = assert.fail()] = asked()
  await one.prove('a Host', 'host')
  assert.deepEqual(sent(), [listed(2)])
  await two.prove('alice')
  assert.deepEqual(sent(), [listed(1, 'alice')])
  trust.onFile()
  assert.deepEqual(sent(), [])
  await three.prove('alice')
  assert.deepEqual(sent(), [listed(0, 'alice')])
  const said = captured.messages('info').filter((message) => message === 'accepted signers')
  assert.equal(said.length, 2, 'of nobody at first, and of alice')
  assert.deepEqual(captured.messages('warn'), [])
})

test('a bootstrap peer that proves another identity is said, and no other with it', async (t) => {
  const { trust, captured, asked, connect, disconnect } = await open(t)
  trust.setBootstrapPeers(addressesOf('one', 'two'), true)
  for (const name of ['alice', 'bob']) {
    connect('one')
    const [question = assert.fail()] = asked()
    await question.prove(name)
    disconnect('one')
  }
  connect('two')
  const [question = assert.fail()] = asked()
  await question.prove('carol')
  assert.deepEqual(captured.messages('error'), ['bootstrap peer proves another identity'])
})

test('a file of signers that changes is accepted as it is now, and remembered so', async (t) => {
  const store = await openTestStore(t)
  const inFile = ['alice']
  const fileOf = (values: readonly string[], problem: string | null = null): SignersFile => ({
    path: '/signers',
    values: () => values,
    problem: () => problem,
  })
  const { trust, sent } = await open(t, 'signers', { store, file: fileOf(inFile) })
  inFile.push('bob')
  trust.onFile()
  const identities = sent().map((accepted) => accepted.kind === 'listed' && accepted.identities)
  assert.deepEqual(identities, [['alice'], ['alice', 'bob']])
  await store.flushed()
  const again = await open(t, 'signers', { store, file: fileOf([], 'ENOENT') })
  assert.deepEqual(
    again.trust.sources().map(({ identity }) => identity),
    ['alice', 'bob'],
  )
})

test('where signers are named, a Generator that is none of them is said and not remembered', async (t) => {
  const listed = [identityOf('carol')]
  const room = await open(t, 'signers', { listed })
  const { trust, captured, asked, connect, disconnect, sent } = room
  assert.deepEqual(sent(), [{ kind: 'listed', identities: listed, awaited: 0 }])
  trust.setBootstrapPeers(addressesOf('one'), true)
  for (const name of ['alice', 'bob', 'carol']) {
    connect('one')
    const [question = assert.fail()] = asked()
    await question.prove(name)
    disconnect('one')
  }
  const said = 'bootstrap peer is a Generator that is not accepted'
  assert.deepEqual(captured.messages('warn'), [said, said])
  const [carol = assert.fail(), ...others] = trust.sources()
  assert.deepEqual([carol.source, others, sent()], ['setting', [], []])
})

test('a sibling that proves to be a Generator is said once, and is no signer', async (t) => {
  const { trust, captured, asked, connect } = await open(t)
  connect('one')
  trust.setSiblings(addressesOf('one'), true)
  const [question = assert.fail()] = asked()
  await question.prove('alice')
  trust.setSiblings(addressesOf('one'), true)
  const said = 'sibling proves to be a Generator, and is no signer'
  assert.deepEqual(captured.messages('warn'), [said])
  assert.deepEqual([trust.sources(), trust.hosts()], [[], []])
})

test('a sibling is no bootstrap peer: what it proves is looked at once, as that of a Host', async (t) => {
  const { trust, captured, asked, connect } = await open(t)
  connect('one')
  trust.setBootstrapPeers(addressesOf('one'), true)
  const [question = assert.fail()] = asked()
  await question.prove('replica', 'host')
  const sources = (): unknown[] => trust.hosts().map(({ identity, source }) => [identity, source])
  assert.deepEqual(sources(), [[identityOf('replica'), 'bootstrap']])
  trust.setBootstrapPeers([], true)
  assert.deepEqual(sources(), [])
  for (let again = 0; again < 2; again++) trust.setSiblings(addressesOf('one'), true)
  assert.deepEqual(sources(), [[identityOf('replica'), 'sibling']])
  assert.equal(captured.messages('info').filter((line) => /^sibling proved/.test(line)).length, 1)
  assert.equal(trust.identityOf('one'), null)
  trust.setSiblings([], false)
  assert.deepEqual(sources(), [[identityOf('replica'), 'sibling']], 'as the file is unreadable')
  trust.setSiblings([], true)
  assert.deepEqual([sources(), asked()], [[], []])
})
