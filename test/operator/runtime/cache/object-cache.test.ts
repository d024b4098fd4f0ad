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
