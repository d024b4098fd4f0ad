/** How lists are read: page by page, and large ones one at a time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'

const type = builtinTypes.ConfigMap
const path = '/api/v1/namespaces/apps/configmaps'
const pages = ['p0', 'p1', 'p2', 'p3', 'p4']

const room = kubernetesRoom()

test('lists come page by page, and only what is kept of each object', async () => {
  for (const name of pages) room.server.put(`${path}/${name}`, {})
  const listing = await room.client.api.list(
    { type, namespace: 'apps' },
    { pageSize: 2, keep: ({ metadata }: KubernetesObject) => metadata?.name },
  )
  assert.deepEqual(listing.items, pages)
  const limits = room.server.requests
    .slice(-3)
    .map(({ query }) => [query['limit'], query['continue']])
  assert.deepEqual(limits, [
    ['2', undefined],
    ['2', '2'],
    ['2', '4'],
  ])
})

test('a page that is too large is asked for again with fewer objects, down to one', async () => {
  const ofMiB = (size: number): KubernetesObject =>
    ({ data: { x: 'a'.repeat(size * 1_048_576) } }) as KubernetesObject
  for (const name of pages) room.server.put(`${path}/${name}`, ofMiB(6))
  const keep = ({ metadata }: KubernetesObject): string => metadata?.name ?? ''
  const { items } = await room.client.api.list({ type, namespace: 'apps' }, { keep })
  assert.deepEqual(items, pages)
  const limits = room.server.requests.map(({ query }) => query['limit'])
  assert.deepEqual(limits, ['100', '25', '7', '2', '2', '2'])
  room.server.put(`${path}/p5`, ofMiB(16))
  await assert.rejects(room.client.api.list({ type, namespace: 'apps' }, { keep }), {
    code: 'OPERATOR_API_ANSWER_TOO_LARGE',
  })
  assert.equal(room.server.requests.at(-1)?.query['limit'], '1')
})

test('a list whose next page has expired begins again, all at once', async () => {
  for (const name of pages) room.server.put(`${path}/${name}`, {})
  room.server.faults.add(({ query }, response) => {
    if (query['continue'] === undefined) return false
    send(response, 410, status(410, 'Expired'))
    return true
  })
  const keep = ({ metadata }: KubernetesObject): string => metadata?.name ?? ''
  const { items } = await room.client.api.list({ type, namespace: 'apps' }, { pageSize: 2, keep })
  assert.deepEqual(items, pages)
})

test('while one large list waits for a busy API server, those of other kinds are read', async () => {
  const aborting = new AbortController()
  const options = { keep: () => true, isLarge: true, signal: aborting.signal }
  const busy = room.server.seen(({ path: seen }) => seen === '/api/v1/pods')
  room.server.faults.add((request, response) => {
    if (request.path !== '/api/v1/pods') return false
    send(response, 429, status(429, 'TooManyRequests'), { 'retry-after': '30' })
    return true
  })
  const waiting = room.client.api.list({ type: builtinTypes.Pod }, options)
  await busy
  assert.deepEqual((await room.client.api.list({ type: builtinTypes.Service }, options)).items, [])
  aborting.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
})

test('large lists are read one at a time, and others wait for none of them', async () => {
  const aborting = new AbortController()
  const large = { keep: () => true, isLarge: true, signal: aborting.signal }
  room.server.faults.add(({ path: asked }) => asked === '/api/v1/pods')
  const types = [builtinTypes.Pod, builtinTypes.Secret]
  const waiting = types.map((each) => room.client.api.list({ type: each }, large))
  const { items } = await room.client.api.list({ type }, { keep: () => true })
  assert.deepEqual(items, [])
  assert.ok(!room.server.requests.some(({ path: asked }) => asked === '/api/v1/secrets'))
  aborting.abort()
  for (const each of waiting) await assert.rejects(each, { name: 'AbortError' })
})
