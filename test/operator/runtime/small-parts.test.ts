import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { isNewer } from '../../../operator/runtime/client/kubernetes-object.ts'
import { isSelectedBy } from '../../../operator/runtime/client/label-selector.ts'
import { createMutex } from '../../../operator/runtime/client/mutex.ts'
import {
  builtinTypes,
  objectPath,
  parseKey,
} from '../../../operator/runtime/client/resource-type.ts'
import { untilAborted } from '../../../operator/runtime/client/until-aborted.ts'
import { dieAt } from '../support/die-at.ts'

test('resourceVersions are compared as numbers of any length; what is none counts as newer', () => {
  assert.ok(isNewer('100', '99'))
  assert.ok(!isNewer('99', '100'))
  assert.ok(!isNewer('7', '7'))
  assert.ok(isNewer('18446744073709551617', '18446744073709551616'))
  assert.ok(isNewer('abc', '7'))
  assert.ok(isNewer('', '7'))
  assert.ok(isNewer('7', 'abc'))
  assert.ok(isNewer('7', ''))
  assert.ok(!isNewer('abc', 'abc'))
})

test('label selectors select as the API server does', () => {
  const labels = { app: 'host', own: '' }
  for (const selector of [
    '',
    'app',
    'app=host',
    'app==host',
    'own=',
    'app in (a, host),own',
    ' app , own ',
  ]) {
    assert.ok(isSelectedBy(selector, labels), selector)
  }
  for (const selector of ['other', 'app=x', 'app in (a,b)', 'app=host,own=x', 'app in ()']) {
    assert.ok(!isSelectedBy(selector, labels), selector)
  }
  assert.ok(!isSelectedBy('app', undefined))
  assert.throws(() => isSelectedBy('app!=host', labels), RangeError)
})

test('paths are those of the API server', () => {
  const set = { type: builtinTypes.StatefulSet, namespace: 'apps', name: 'a' }
  assert.equal(objectPath(set, 'status'), '/apis/apps/v1/namespaces/apps/statefulsets/a/status')
  const storageClass = { type: builtinTypes.StorageClass, name: 'fast' }
  assert.equal(objectPath(storageClass), '/apis/storage.k8s.io/v1/storageclasses/fast')
  assert.deepEqual(parseKey('apps/a'), { namespace: 'apps', name: 'a' })
  assert.deepEqual(parseKey('a'), { namespace: '', name: 'a' })
})

test('a test names the write at which the operator dies, before or after, by number', () => {
  let deaths = 0
  const die = (): void => {
    deaths += 1
  }
  const second = dieAt('after apply StatefulSet 2', die)
  const call = { verb: 'apply', type: builtinTypes.StatefulSet } as const
  second.after?.(call, {})
  second.after?.({ ...call, subresource: 'status' }, {})
  assert.equal(deaths, 0)
  second.after?.(call, {})
  assert.equal(deaths, 1)
  dieAt('before create Secret', die).before?.({ verb: 'create', type: builtinTypes.Secret })
  assert.equal(deaths, 2)
  assert.throws(() => dieAt('some time', die), /names no write/)
})

test('what a mutex is asked for begins when everything before it is over, also where that failed', async () => {
  const inTurn = createMutex()
  const reported: string[] = []
  const work = (name: string) => async (): Promise<void> => {
    reported.push(`${name} begins`)
    await setImmediate()
    reported.push(`${name} ends`)
    if (name === 'one') throw new Error('one fails')
  }
  const [one, two] = await Promise.allSettled([inTurn(work('one')), inTurn(work('two'))])
  assert.deepEqual([one.status, two.status], ['rejected', 'fulfilled'])
  assert.deepEqual(reported, ['one begins', 'one ends', 'two begins', 'two ends'])
})

test('a waiter for a mutex gives up on its signal, and those behind it go on', async () => {
  const inTurn = createMutex()
  const reported: string[] = []
  const first = Promise.withResolvers<void>()
  const aborting = new AbortController()
  const holding = inTurn(() => first.promise)
  const left = inTurn(async () => void reported.push('two'), aborting.signal)
  const behind = inTurn(async () => void reported.push('three'))
  aborting.abort(new Error('no time'))
  await assert.rejects(left, /no time/)
  assert.deepEqual(reported, [])
  first.resolve()
  await Promise.all([holding, behind])
  assert.deepEqual(reported, ['three'])
})

test('nothing is waited for once a signal says so, and a signal that stays keeps nothing of it', async () => {
  const reason = new Error('no time')
  await assert.rejects(untilAborted(Promise.resolve('done'), AbortSignal.abort(reason)), reason)
  const { signal } = new AbortController()
  assert.equal(await untilAborted(Promise.resolve('done'), signal), 'done')
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})
