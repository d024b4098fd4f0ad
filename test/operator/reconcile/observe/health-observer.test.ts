import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { afterEach, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import {
  type HealthObserver,
  openHealthObserver,
  type Target,
} from '../../../../operator/reconcile/observe/health-observer.ts'

const body = (id: string, figures: object = {}): string =>
  JSON.stringify({ program: 'host', p2p: { self: { id }, peers: [] }, ...figures })

let observer: HealthObserver | null = null
afterEach(async () => {
  await observer?.close()
  observer = null
})

const first: Target = { ordinal: 0, uid: 'pod', ip: '10.0.0.1' }

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

test('a replica is checked at once, and its report is announced and kept', async () => {
  const { changes, seen } = observe(new Map([['http://10.0.0.1:8080/health', body('one')]]))
  seen.watch('Host a/b', [first])
  assert.equal(seen.view('Host a/b', first), undefined)
  const [owner] = await once(changes, 'change')
  assert.equal(owner, 'Host a/b')
  assert.equal(seen.view('Host a/b', first)?.peerID, 'one')
})

test('the replicas of one namespace do not wait until all those of another were asked', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: string[] = []
  const all = Promise.withResolvers<void>()
  const opened = openHealthObserver(
    { maxConcurrent: 1 },
    {
      log: pino({ level: 'silent' }),
      fetchText: async (url) => {
        asked.push(new URL(url).hostname)
        if (asked.length === 5) all.resolve()
        await setImmediate()
        throw new Error('nothing answers')
      },
      onChange: () => undefined,
    },
  )
  observer = opened
  const many = [0, 1, 2, 3].map((ordinal) => ({ ordinal, uid: 'pod', ip: `10.0.0.${ordinal}` }))
  opened.watch('Host many/a', many)
  opened.watch('Host few/b', [{ ordinal: 0, uid: 'pod', ip: '10.0.1.0' }])
  t.mock.timers.tick(1)
  await all.promise
  assert.deepEqual(asked, ['10.0.0.0', '10.0.0.1', '10.0.1.0', '10.0.0.2', '10.0.0.3'])
})

test('an IPv6 address is asked as well', async () => {
  const { changes, seen } = observe(new Map([['http://[fd00::1]:8080/health', body('six')]]))
  const six = { ordinal: 0, uid: 'pod', ip: 'fd00::1' }
  seen.watch('Host a/b', [six])
  await once(changes, 'change')
  assert.equal(seen.view('Host a/b', six)?.peerID, 'six')
})

test('a change is announced, the same report is not', async () => {
  const answers = new Map([['http://10.0.0.1:8080/health', body('one')]])
  const { changes, seen } = observe(answers)
  seen.watch('Host a/b', [first])
  await once(changes, 'change')
  const next = once(changes, 'change')
  answers.set('http://10.0.0.1:8080/health', body('two'))
  await next
  assert.equal(seen.view('Host a/b', first)?.peerID, 'two')
  answers.clear()
  await once(changes, 'change')
  assert.equal(seen.view('Host a/b', first), null)
})

for (const figure of ['head', 'lag'] as const)
  test(`a ${figure} alone is announced twice a minute at most, and none is lost`, async () => {
    const url = 'http://10.0.0.1:8080/health'
    const answers = new Map([[url, body('one')]])
    let asked = 0
    const opened = openHealthObserver(
      { intervalMs: 20, figuresMs: 500 },
      {
        log: pino({ level: 'silent' }),
        fetchText: async () => {
          asked += 1
          if (asked > 2 && asked < 7) answers.set(url, body('one', { [figure]: asked }))
          return answers.get(url) ?? ''
        },
        onChange: () => changes.emit('change', opened.view('Host a/b', first)?.[figure]),
      },
    )
    const changes = new EventEmitter()
    observer = opened
    opened.watch('Host a/b', [first])
    assert.deepEqual(await once(changes, 'change'), [null])
    assert.deepEqual(await once(changes, 'change'), [3], 'the first at once')
    assert.deepEqual(await once(changes, 'change'), [6], 'the last though nothing moves any more')
  })

test('another pod under the same ordinal is another replica, and the old one is not checked', async () => {
  const answers = new Map([
    ['http://10.0.0.1:8080/health', body('one')],
    ['http://10.0.0.2:8080/health', body('two')],
  ])
  const { changes, seen } = observe(answers)
  seen.watch('Host a/b', [first])
  await once(changes, 'change')
  const second = { ordinal: 0, uid: 'new', ip: '10.0.0.2' }
  seen.watch('Host a/b', [second])
  assert.equal(seen.view('Host a/b', second), undefined)
  await once(changes, 'change')
  assert.equal(seen.view('Host a/b', second)?.peerID, 'two')
  assert.equal(seen.view('Host a/b', first), undefined)
  seen.watch('Host a/b', [])
  assert.equal(seen.view('Host a/b', second), undefined)
})

test('so many replicas are asked at once as may be, and each that answers makes room for one', async () => {
  const asked: PromiseWithResolvers<string>[] = []
  const events = new EventEmitter()
  const seen = openHealthObserver(
    { maxConcurrent: 2 },
    {
      log: pino({ level: 'silent' }),
      fetchText: async () => {
        const answer = Promise.withResolvers<string>()
        asked.push(answer)
        events.emit(`asked ${asked.length}`)
        return await answer.promise
      },
      onChange: () => undefined,
    },
  )
  observer = seen
  const replicas = [0, 1, 2, 3].map((ordinal) => ({ ordinal, uid: 'pod', ip: `10.0.0.${ordinal}` }))
  const two = once(events, 'asked 2')
  seen.watch('Host a/b', replicas)
  await two
  await setImmediate()
  assert.equal(asked.length, 2)
  for (const [index, count] of [3, 4].entries()) {
    const more = once(events, `asked ${count}`)
    asked[index]?.resolve(body('one'))
    await more
    await setImmediate()
    assert.equal(asked.length, count)
  }
  for (const { resolve } of asked) resolve(body('one'))
})

/** What an observer reports of an outside address where `answers` come one after the other, then the last again. */
async function observeOutside(answers: readonly (string | null)[]): Promise<(string | null)[]> {
  const reported: (string | null)[] = []
  const asked = new EventEmitter()
  let checks = 0
  const seen = openHealthObserver(
    { intervalMs: 5 },
    {
      log: pino({ level: 'silent' }),
      fetchText: async () => {
        const answer = answers[Math.min(checks, answers.length - 1)] ?? null
        checks += 1
        if (checks > answers.length + 3) asked.emit('enough')
        if (answer === null) throw new Error('nothing answers')
        return answer
      },
      onChange: () => reported.push(seen.view('Host a/b', external)?.peerID ?? null),
    },
  )
  observer = seen
  const external = { ordinal: 0, uid: 'pod', ip: '203.0.113.7', expected: 'one' }
  const enough = once(asked, 'enough')
  seen.watch('Host a/b', [external])
  await enough
  return reported
}

test('of an external address a failure counts after three in a row, a success at once', async () => {
  const [one, two] = [body('one'), body('two')]
  assert.deepEqual(await observeOutside([one]), ['one'])
  assert.deepEqual(await observeOutside([one, null, null, one, two, null, one]), ['one'])
  assert.deepEqual(await observeOutside([one, null, null, null]), ['one', null])
  assert.deepEqual(await observeOutside([null, null, two, one]), ['two', 'one'])
  assert.deepEqual(await observeOutside([null, two, two]), ['two'])
})

test('figures of an external address are not announced', async () => {
  assert.deepEqual(await observeOutside([body('one'), body('one', { head: 7 })]), ['one'])
})

test('an external address is checked beside the pod, which is reported as before', async () => {
  const answers = new Map([
    ['http://10.0.0.1:8080/health', body('one')],
    ['http://203.0.113.7:8080/health', body('one')],
  ])
  const { changes, seen } = observe(answers)
  const external = { ...first, ip: '203.0.113.7', expected: 'one' }
  seen.watch('Host a/b', [first])
  await once(changes, 'change')
  seen.watch('Host a/b', [first, external])
  assert.equal(seen.view('Host a/b', first)?.peerID, 'one')
  assert.equal(seen.view('Host a/b', external), undefined)
  await once(changes, 'change')
  assert.equal(seen.view('Host a/b', external)?.peerID, 'one')
})

test('a replica is asked again within two seconds after a change, then less often', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const url = 'http://10.0.0.1:8080/health'
  const answers = new Map([[url, body('one')]])
  let asked = 0
  const seen = openHealthObserver(
    {},
    {
      log: pino({ level: 'silent' }),
      fetchText: async (at) => {
        asked += 1
        return answers.get(at) ?? assert.fail(at)
      },
      onChange: () => undefined,
    },
  )
  observer = seen
  /** How often it is asked within these seconds. */
  const within = async (seconds: number): Promise<number> => {
    const before = asked
    for (let passed = 0; passed < 10 * seconds; passed += 1) {
      t.mock.timers.tick(100)
      await setImmediate()
    }
    return asked - before
  }
  const settled = async (): Promise<void> => void (await within(300))
  seen.watch('Host a/b', [{ ...first, occasion: 'unready' }])
  seen.watch('Host a/b', [{ ...first, occasion: 'its first View' }])
  assert.equal(await within(0.1), 1, 'a new one is asked at once')
  assert.ok((await within(2)) >= 1, 'and again')
  await settled()
  assert.ok((await within(20)) <= 2, 'one that says the same is asked three times a minute')
  seen.watch('Host a/b', [{ ...first, occasion: 'unready' }])
  seen.watch('Host a/b', [{ ...first, occasion: 'ready' }])
  assert.ok((await within(2)) >= 1, 'its pod changed')
  await settled()
  answers.set(url, body('two'))
  while (seen.view('Host a/b', first)?.peerID !== 'two') await within(0.1)
  assert.ok((await within(2)) >= 1, 'it said something else')
})

interface Checked {
  readonly seen: HealthObserver
  /** What was asked for, in its order. */
  readonly asked: string[]
  /** Lets so much time pass. */
  pass(ms: number): Promise<void>
}

/** An observer whose time passes as the test says; who is not among the answers does not answer. */
function check(t: TestContext, answers: Readonly<Record<string, string>>): Checked {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: string[] = []
  const seen = openHealthObserver(
    {},
    {
      log: pino({ level: 'silent' }),
      fetchText: async (url) => {
        asked.push(url)
        return answers[url] ?? Promise.reject(new Error('nothing answers'))
      },
      onChange: () => undefined,
    },
  )
  observer = seen
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms)
    for (let turn = 0; turn < 5; turn++) await setImmediate()
  }
  return { seen, asked, pass }
}

const healthOfFirst = 'http://10.0.0.1:8080/health'
const viewsOfFirst = 'http://10.0.0.1:9181/api/v0/views'

test('a replica is asked for the Views that are named, and for none where none are', async (t) => {
  const views = JSON.stringify({ views: [{ id: '0xab', state: 'live', name: 'Sender', rows: 7 }] })
  const answers = { [healthOfFirst]: body('one'), [viewsOfFirst]: views }
  const { seen, asked, pass } = check(t, answers)
  seen.watch('Host a/b', [first])
  await pass(0)
  assert.deepEqual([asked, seen.view('Host a/b', first)?.views], [[healthOfFirst], undefined])
  seen.watch('Host a/b', [{ ...first, views: ['0xab'], occasion: 'a View came' }])
  await pass(2_000)
  assert.deepEqual(asked.slice(1), [healthOfFirst, viewsOfFirst])
  const found = { id: '0xab', state: 'live', name: 'Sender', type: null, rows: 7 }
  assert.deepEqual(seen.view('Host a/b', first)?.views, [
    { ...found, lastBlock: null, message: null },
  ])
})

test('a replica that says nothing of its Views, or nothing at all, is known to say nothing', async (t) => {
  const { seen, asked, pass } = check(t, { [healthOfFirst]: body('one') })
  const [silent, mute] = [first, { ...first, ordinal: 1, ip: '10.0.0.2' }]
  const views = ['0xab']
  seen.watch('Host a/b', [
    { ...silent, views },
    { ...mute, views },
  ])
  await pass(0)
  assert.equal(seen.view('Host a/b', silent)?.views, null)
  assert.equal(seen.view('Host a/b', mute), null)
  assert.ok(!asked.includes('http://10.0.0.2:9181/api/v0/views'))
})

test('a replica that is watched again is asked sooner where something of it changed', async (t) => {
  const { seen, asked, pass } = check(t, { [healthOfFirst]: body('one') })
  const targets = [{ ...first, occasion: 'ready' }]
  seen.watch('Host a/b', targets)
  await pass(0)
  await pass(2_000)
  assert.equal(asked.length, 2)
  seen.watch('Host a/b', targets)
  await pass(1_999)
  assert.equal(asked.length, 2)
  for (let check = 0; check < 6; check += 1) await pass(20_000)
  asked.splice(0)
  seen.watch('Host a/b', [{ ...first, occasion: 'unready' }])
  await pass(2_000)
  assert.equal(asked.length, 1)
})

test('all replicas of an owner are checked at once where that is asked for, and no others', async (t) => {
  const { seen, asked, pass } = check(t, { [healthOfFirst]: body('one') })
  seen.watch('Host a/b', [first, { ...first, ordinal: 1, ip: '10.0.0.2' }])
  seen.watch('Host a/c', [{ ...first, ip: '10.0.0.3' }])
  await pass(0)
  asked.splice(0)
  seen.checkNow('Host a/b')
  seen.checkNow('Host a/d')
  await pass(0)
  assert.deepEqual(asked.splice(0), [healthOfFirst, 'http://10.0.0.2:8080/health'])
  await pass(2_000)
  const again = asked.filter((url) => url !== 'http://10.0.0.3:8080/health')
  assert.deepEqual(again.toSorted(), [healthOfFirst, 'http://10.0.0.2:8080/health'])
})

test('an external address is asked three times a minute at most from the beginning', async (t) => {
  const { seen, asked, pass } = check(t, {})
  seen.watch('Host a/b', [{ ...first, ip: '203.0.113.7', expected: 'one' }])
  await pass(0)
  await pass(9_999)
  assert.equal(asked.length, 1)
  await pass(10_001)
  assert.equal(asked.length, 2)
})

test('a replica that is watched no more, or of a closed observer, is not checked again', async (t) => {
  const { seen, asked, pass } = check(t, {})
  const second = { ...first, ordinal: 1, ip: '10.0.0.2' }
  seen.watch('Host a/b', [first, second])
  await pass(0)
  seen.watch('Host a/b', [second])
  asked.splice(0)
  await pass(20_000)
  assert.deepEqual(asked, ['http://10.0.0.2:8080/health'])
  await seen.close()
  seen.checkNow('Host a/b')
  await pass(20_000)
  assert.equal(asked.length, 1)
  assert.equal(seen.view('Host a/b', second), undefined)
})
