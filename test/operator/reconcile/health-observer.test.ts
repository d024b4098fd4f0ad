import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { afterEach, test } from 'node:test'
import { pino } from 'pino'
import {
  type HealthObserver,
  openHealthObserver,
} from '../../../operator/reconcile/health-observer.ts'

const body = (id: string): string =>
  JSON.stringify({ program: 'host', p2p: { self: { id }, peers: [] } })

let observer: HealthObserver | null = null
afterEach(async () => {
  await observer?.close()
  observer = null
})

/** An observer of replicas that answer what `answers` says, by URL; others do not answer. */
function observe(answers: Map<string, string>): {
  readonly changes: EventEmitter
  readonly seen: HealthObserver
} {
  const changes = new EventEmitter()
  const seen = openHealthObserver(
    { intervalMs: 20 },
    {
      log: pino({ level: 'silent' }),
      fetchText: async (url) => {
        const answer = answers.get(url)
        if (answer === undefined) throw new Error('nothing answers')
        return answer
      },
      onChange: (owner) => changes.emit('change', owner),
    },
  )
  observer = seen
  return { changes, seen }
}

test('a replica is asked at once, and what it says is told and kept', async () => {
  const { changes, seen } = observe(new Map([['http://10.0.0.1:8080/health', body('one')]]))
  seen.watch('Host a/b', [{ ordinal: 0, uid: 'pod', ip: '10.0.0.1' }])
  assert.equal(seen.view('Host a/b', 0), undefined)
  const [owner] = await once(changes, 'change')
  assert.equal(owner, 'Host a/b')
  assert.equal(seen.view('Host a/b', 0)?.peerID, 'one')
})

test('an IPv6 address is asked as well', async () => {
  const { changes, seen } = observe(new Map([['http://[fd00::1]:8080/health', body('six')]]))
  seen.watch('Host a/b', [{ ordinal: 0, uid: 'pod', ip: 'fd00::1' }])
  await once(changes, 'change')
  assert.equal(seen.view('Host a/b', 0)?.peerID, 'six')
})

test('a change is told, the same answer is not', async () => {
  const answers = new Map([['http://10.0.0.1:8080/health', body('one')]])
  const { changes, seen } = observe(answers)
  seen.watch('Host a/b', [{ ordinal: 0, uid: 'pod', ip: '10.0.0.1' }])
  await once(changes, 'change')
  const next = once(changes, 'change')
  answers.set('http://10.0.0.1:8080/health', body('two'))
  await next
  assert.equal(seen.view('Host a/b', 0)?.peerID, 'two')
  answers.clear()
  await once(changes, 'change')
  assert.equal(seen.view('Host a/b', 0), null)
})

test('another pod under the same ordinal is another replica, and nobody asks the old one', async () => {
  const answers = new Map([
    ['http://10.0.0.1:8080/health', body('one')],
    ['http://10.0.0.2:8080/health', body('two')],
  ])
  const { changes, seen } = observe(answers)
  seen.watch('Host a/b', [{ ordinal: 0, uid: 'old', ip: '10.0.0.1' }])
  await once(changes, 'change')
  seen.watch('Host a/b', [{ ordinal: 0, uid: 'new', ip: '10.0.0.2' }])
  assert.equal(seen.view('Host a/b', 0), undefined)
  await once(changes, 'change')
  assert.equal(seen.view('Host a/b', 0)?.peerID, 'two')
  seen.watch('Host a/b', [])
  assert.equal(seen.view('Host a/b', 0), undefined)
})
