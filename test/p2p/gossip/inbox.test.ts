/** What becomes of a message between a stream and gossipsub, without either. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import type { PeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { Registry } from 'prom-client'
import { createInbox, type Inbox } from '../../../src/p2p/gossip/inbox.ts'
import { defaultLimits, type P2pLimits } from '../../../src/p2p/limits/limits.ts'
import { createP2pMetrics } from '../../../src/p2p/limits/metrics.ts'
import type { BlockOrigin, PeerVerdict } from '../../../src/p2p/peers/verdict.ts'
import { captureLog } from '../../support/captured-log.ts'
import { metricValue } from '../../support/metric-value.ts'

const forwarder: PeerId = peerIdFromString('12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5')
const never = (): number => 0
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

interface Scene {
  readonly inbox: Inbox
  /** What was to be checked, in order: the text, and where it came from. */
  readonly asked: (readonly [text: string, from: BlockOrigin])[]
  readonly verdicts: (readonly [peer: string, verdict: PeerVerdict])[]
  readonly faults: string[]
  /** Messages taken by the inbox, by what became of them. */
  counted(verdict: string): Promise<number>
  /** What gossipsub does with a message that it got. */
  validate(text: string, topic?: string): Promise<TopicValidatorResult>
  /** Decides about the message, now or as soon as it is asked about. */
  decide(text: string, verdict: PeerVerdict): void
}

/** An inbox that listens to `topic`, with peers `friend` and `ally` configured and `outlaw` banned. */
function openScene(limits: Partial<P2pLimits> = {}): Scene {
  const registry = new Registry()
  const figures = { peers: never, activeStreams: never, banned: never, bannedAddresses: never }
  const answers = new Map<string, PromiseWithResolvers<PeerVerdict>>()
  const answerTo = (text: string): PromiseWithResolvers<PeerVerdict> => {
    const answer = answers.get(text) ?? Promise.withResolvers<PeerVerdict>()
    answers.set(text, answer)
    return answer
  }
  const asked: Scene['asked'] = []
  const verdicts: Scene['verdicts'] = []
  const faults: string[] = []
  const check = (data: Uint8Array, from: BlockOrigin): Promise<PeerVerdict> => {
    const text = Buffer.from(data).toString()
    asked.push([text, from])
    return answerTo(text).promise
  }
  const inbox = createInbox(
    { ...defaultLimits, ...limits },
    {
      log: captureLog().log,
      metrics: createP2pMetrics(registry, figures),
      topics: new Map([['topic', { check, maxBytes: 10 }]]),
      remoteOf: (peer) => ({ key: peer, isConfigured: ['friend', 'ally'].includes(peer) }),
      isBanned: (peer) => peer === 'outlaw',
      onVerdict: (peer, verdict) => verdicts.push([peer, verdict]),
      onFault: (peer, fault) => faults.push(`${peer}: ${fault}`),
      disconnect: (peer) => faults.push(`${peer} is disconnected`),
    },
  )
  return {
    inbox,
    asked,
    verdicts,
    faults,
    counted: (verdict) => metricValue(registry, 'viewmesh_p2p_messages_total', { verdict }),
    validate: async (text, topic = 'topic') => {
      const message: Message = { type: 'unsigned', topic, data: bytes(text) }
      inbox.idOf(message)
      return await inbox.validate(forwarder, message)
    },
    decide: (text, verdict) => answerTo(text).resolve(verdict),
  }
}

const ignored: PeerVerdict = { action: 'ignore', reason: 'a test' }
const texts = ({ asked }: Scene): string[] => asked.map(([text]) => text)

test('gossipsub gets a message once, of a topic that is listened to and a peer that may gossip', () => {
  const { inbox, faults } = openScene()
  const offers: readonly (readonly [peer: string, topic: string, text: string])[] = [
    ['p', 'topic', 'a block'],
    ['p', 'topic', 'a block'],
    ['q', 'topic', 'a block'],
    ['p', 'other topic', 'a block'],
    ['outlaw', 'topic', 'one more'],
    ['p', 'topic', 'one more'],
  ]
  const taken = offers.map(([peer, topic, text]) => inbox.offer(peer, topic, bytes(text)))
  assert.deepEqual(taken, [true, false, false, false, false, true])
  assert.deepEqual(faults, [])
})

test('a message above the limit is a fault of who sent it, and ends its connections', () => {
  const { inbox, faults } = openScene()
  assert.equal(inbox.offer('p', 'topic', new Uint8Array(10)), true)
  assert.deepEqual(faults, [])
  assert.equal(inbox.offer('p', 'topic', new Uint8Array(11)), false)
  assert.deepEqual(faults, ['p: oversize message', 'p is disconnected'])
})

test('what this node publishes itself is not taken from others afterwards', () => {
  const { inbox } = openScene()
  inbox.idOf({ type: 'unsigned', topic: 'topic', data: bytes('ours') })
  assert.equal(inbox.offer('p', 'topic', bytes('ours')), false)
})

test('the ID of a message is that of its topic and data, each of them whole', () => {
  const { inbox } = openScene()
  const idOf = (topic: string, text: string): string =>
    Buffer.from(inbox.idOf({ type: 'unsigned', topic, data: bytes(text) })).toString('hex')
  assert.equal(idOf('a', 'bc'), idOf('a', 'bc'))
  assert.equal(new Set([idOf('a', 'bc'), idOf('ab', 'c'), idOf('b', 'bc')]).size, 3)
})

const results = [
  [{ action: 'accept', height: 7 }, TopicValidatorResult.Accept],
  [ignored, TopicValidatorResult.Ignore],
  [{ action: 'reject', reason: 'a test' }, TopicValidatorResult.Reject],
] as const

for (const [verdict, result] of results) {
  test(`a verdict "${verdict.action}" is counted, reported with its sender and sent to gossipsub`, async () => {
    const scene = openScene()
    scene.inbox.offer('p', 'topic', bytes('a block'))
    scene.decide('a block', verdict)
    assert.equal(await scene.validate('a block'), result)
    assert.equal(await scene.validate('a block'), TopicValidatorResult.Ignore, 'once more')
    assert.deepEqual(scene.asked, [['a block', { peer: 'p', via: 'gossip' }]])
    assert.deepEqual(scene.verdicts, [['p', verdict]])
    assert.equal(await scene.counted(verdict.action), 1)
  })
}

test('what was never offered here, or not on this topic, is ignored unread', async () => {
  const scene = openScene()
  assert.equal(await scene.validate('a block'), TopicValidatorResult.Ignore)
  assert.equal(await scene.validate('a block', 'other topic'), TopicValidatorResult.Ignore)
  assert.deepEqual([scene.asked, scene.verdicts], [[], []])
})

for (const [what, limits] of [
  ['messages', { pendingMessages: { configured: 2, address: 2, strangers: 2 } }],
  ['bytes', { pendingBytes: { configured: 20, address: 20, strangers: 20 } }],
] as const) {
  test(`above the ${what} that may wait more are dropped, until one has its verdict`, async () => {
    const scene = openScene(limits)
    const offer = (text: string): boolean => scene.inbox.offer('friend', 'topic', bytes(text))
    assert.deepEqual(['1st block.', '2nd block.', '3rd block.'].map(offer), [true, true, false])
    assert.equal(offer('3rd block.'), false)
    assert.equal(await scene.counted('dropped'), 2)
    scene.decide('1st block.', ignored)
    await scene.validate('1st block.')
    assert.equal(offer('3rd block.'), true, 'what was dropped may come again')
    assert.equal(offer('4th block.'), false)
  })
}

test('what is too long to wait takes no place of a message that may', () => {
  const { inbox } = openScene({
    pendingMessages: { configured: 1, address: 1, strangers: 1 },
    pendingBytes: { configured: 5, address: 5, strangers: 5 },
  })
  assert.equal(inbox.offer('p', 'topic', bytes('longer')), false)
  assert.equal(inbox.offer('p', 'topic', bytes('short')), true)
})

test('messages of strangers are validated so many at a time, in order; those of others at once', async () => {
  const scene = openScene({ strangersValidated: 2 })
  const sent = ['1', '2', '3', '4', '5'].map((text) => {
    scene.inbox.offer('p', 'topic', bytes(text))
    return scene.validate(text)
  })
  await nextTurn()
  assert.deepEqual(texts(scene), ['1', '2'])
  scene.inbox.offer('friend', 'topic', bytes('urgent'))
  scene.decide('urgent', ignored)
  await scene.validate('urgent')
  await nextTurn()
  assert.deepEqual(texts(scene), ['1', '2', 'urgent'], 'which makes no room for one of a stranger')
  scene.decide('1', ignored)
  await sent[0]
  await nextTurn()
  assert.deepEqual(texts(scene), ['1', '2', 'urgent', '3'])
  for (const text of ['2', '3', '4', '5']) scene.decide(text, ignored)
  await Promise.all(sent)
  assert.deepEqual(texts(scene), ['1', '2', 'urgent', '3', '4', '5'])
})

test('the first configured peer with a copy answers for it, else whoever sent it first', async () => {
  const scene = openScene()
  const senders = { block: ['p', 'q'], copied: ['p', 'friend', 'ally'], urgent: ['friend', 'ally'] }
  for (const [text, peers] of Object.entries(senders)) {
    for (const peer of peers) scene.inbox.offer(peer, 'topic', bytes(text))
    scene.decide(text, ignored)
    await scene.validate(text)
  }
  assert.deepEqual(
    scene.verdicts.map(([peer]) => peer),
    ['p', 'friend', 'friend'],
  )
})

test('a configured peer’s copy lets a message go on that waits, and takes no other’s turn', async () => {
  const scene = openScene({ strangersValidated: 1 })
  const sent = ['1', '2', '3'].map((text) => {
    scene.inbox.offer('p', 'topic', bytes(text))
    return scene.validate(text)
  })
  await nextTurn()
  scene.inbox.offer('q', 'topic', bytes('3'))
  await nextTurn()
  assert.deepEqual(texts(scene), ['1'])
  scene.inbox.offer('friend', 'topic', bytes('3'))
  scene.decide('3', ignored)
  await sent[2]
  await nextTurn()
  assert.deepEqual(texts(scene), ['1', '3'])
  for (const text of ['1', '2']) scene.decide(text, ignored)
  await Promise.all(sent)
  assert.deepEqual(
    scene.verdicts.map(([peer]) => peer),
    ['friend', 'p', 'p'],
  )
  scene.inbox.offer('p', 'topic', bytes('4'))
  scene.decide('4', ignored)
  assert.equal(await scene.validate('4'), TopicValidatorResult.Ignore)
  assert.deepEqual(texts(scene), ['1', '3', '2', '4'])
})
