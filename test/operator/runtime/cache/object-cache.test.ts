import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cached, createObjectCache } from '../../../../operator/runtime/cache/object-cache.ts'

const entry = (resourceVersion: string): Cached<string> => ({
  key: 'apps/set',
  uid: 'one',
  resourceVersion,
  value: resourceVersion,
})
const cacheWith = (version: string): ReturnType<typeof createObjectCache<string>> => {
  const cache = createObjectCache<string>(() => undefined)
  cache.put(entry(version))
  return cache
}

test('the answer to a delete of ours that a watch has overtaken brings nothing back', () => {
  const cache = cacheWith('7')
  cache.remove('apps/set', 'one', '9')
  cache.put(entry('8'))
  assert.equal(cache.get('apps/set'), undefined)
})

test('an object that is selected again is there again', () => {
  const cache = cacheWith('7')
  cache.remove('apps/set', 'one', '9')
  cache.put(entry('10'))
  assert.equal(cache.get('apps/set')?.value, '10')
})

test('a list of an older state replaces everything, also objects of the same version', () => {
  const reported: string[] = []
  const cache = createObjectCache<string>(({ before, after }) =>
    reported.push(`${before?.value} -> ${after?.value}`),
  )
  cache.put(entry('7'))
  cache.put({ ...entry('9'), key: 'apps/other', uid: 'other' })
  cache.forget('apps/gone', 'gone')
  const other = { ...entry('7'), value: 'restored' }
  const again = { ...entry('5'), key: 'apps/gone', uid: 'gone' }
  cache.beginList()([other, again], '8', { isBack: true })
  assert.deepEqual([...cache.values()], [other, again])
  assert.deepEqual(reported.slice(2), ['9 -> undefined', '7 -> restored', 'undefined -> 5'])
})

test('a list replaces nothing that our own writes were answered while it was read', () => {
  const cache = cacheWith('7')
  const replaceAll = cache.beginList()
  const [written, made] = [entry('12'), { ...entry('13'), key: 'apps/made', uid: 'made' }]
  cache.put(written)
  cache.put(made)
  cache.forget('apps/gone', 'gone')
  replaceAll([entry('7'), { ...entry('5'), key: 'apps/gone', uid: 'gone' }], '11')
  assert.deepEqual([...cache.values()], [written, made])
  cache.beginList()([written], '14')
  assert.deepEqual([...cache.values()], [written])
})

test('a change is reported where there is one, and what goes is only the very object', () => {
  const reported: string[] = []
  const cache = createObjectCache<string>(({ before, after, listed }) =>
    reported.push(`${before?.value} -> ${after?.value} ${listed}`),
  )
  cache.put(entry('7'))
  cache.put(entry('7'))
  cache.put(entry('6'))
  cache.beginList()([entry('7')], '8')
  cache.remove('apps/set', 'another', '9')
  cache.forget('apps/set', 'another')
  assert.deepEqual([reported, cache.size()], [['undefined -> 7 false'], 1])
  cache.beginList()([entry('9')], '9')
  cache.remove('apps/set', 'one', '10')
  cache.remove('apps/set', 'one', '10')
  cache.put(entry('11'))
  cache.forget('apps/set', 'one')
  assert.deepEqual(reported.slice(1), [
    ...['7 -> 9 true', '9 -> undefined false'],
    ...['undefined -> 11 false', '11 -> undefined false'],
  ])
})

test('a list with another object of the same name replaces it, whatever its version', () => {
  const cache = cacheWith('7')
  cache.beginList()([{ ...entry('7'), uid: 'two', value: 'another' }], '8')
  assert.deepEqual(
    [...cache.values()].map(({ uid, value }) => [uid, value]),
    [['two', 'another']],
  )
})

test('what a watch removed before a list is there again where the list has it', () => {
  const cache = cacheWith('7')
  cache.remove('apps/set', 'one', '9')
  cache.beginList()([entry('5')], '6', { isBack: true })
  assert.equal(cache.get('apps/set')?.value, '5')
})

test('what our own write deleted stays away, until a watch says that too', () => {
  const cache = cacheWith('7')
  cache.forget('apps/set', 'one')
  cache.put(entry('8'))
  assert.equal(cache.size(), 0)
  cache.remove('apps/set', 'one', '9')
  cache.put(entry('9'))
  assert.equal(cache.size(), 0)
  cache.put(entry('10'))
  assert.equal(cache.get('apps/set')?.value, '10')
})

test('of what watches removed, the last 1,024 objects are remembered', () => {
  for (const [others, isBack] of [
    [1_023, false],
    [1_024, true],
  ] as const) {
    const cache = cacheWith('7')
    cache.remove('apps/set', 'one', '9')
    for (let count = 0; count < others; count += 1) cache.remove('apps/x', `uid-${count}`, '9')
    cache.put(entry('8'))
    assert.equal(cache.get('apps/set') !== undefined, isBack)
  }
})

test('an object that is removed a second time is remembered from then on', () => {
  const cache = cacheWith('7')
  cache.remove('apps/set', 'one', '9')
  cache.put(entry('10'))
  for (let count = 0; count < 1_022; count += 1) cache.remove('apps/x', `uid-${count}`, '11')
  cache.remove('apps/set', 'one', '20')
  for (const uid of ['uid-a', 'uid-b']) cache.remove('apps/x', uid, '21')
  cache.put(entry('19'))
  assert.equal(cache.get('apps/set'), undefined)
})
