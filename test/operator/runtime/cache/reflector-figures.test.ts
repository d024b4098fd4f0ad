import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { openReflector, type Reflector } from '../../../../operator/runtime/cache/reflector.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { metricValue } from '../../../support/metric-value.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'

const path = '/api/v1/namespaces/apps/configmaps'

let reflector: Reflector<null>

afterEach(() => reflector.close())
const room = kubernetesRoom()

function open(): void {
  const type = builtinTypes.ConfigMap
  reflector = openReflector(
    { type, namespace: 'apps', keep: () => null, minPauseMs: 1, maxPauseMs: 5 },
    { api: room.client.api, log: room.client.log.log, metrics: room.client.metrics },
  )
}

test('lists, watches, their failures and what is kept are counted by kind', async () => {
  for (const name of ['a', 'b']) room.server.put(`${path}/${name}`, {})
  const asked = { list: 0, watch: 0 }
  room.server.faults.add(({ query }, response) => {
    const operation = query['watch'] === 'true' ? 'watch' : 'list'
    asked[operation] += 1
    if (asked[operation] > 1) return false
    send(response, 500, status(500, 'InternalError'))
    return true
  })
  open()
  while (room.server.openWatches() === 0) await new Promise(setImmediate)
  const value = async (sample: string, labels = {}): Promise<number> =>
    await metricValue(room.client.registry, sample, { kind: 'ConfigMap', ...labels })
  assert.deepEqual(
    {
      lists: await value('list_operations_total'),
      watches: await value('watch_operations_total'),
      failedLists: await value('list_watch_failures_total', { operation: 'list' }),
      failedWatches: await value('list_watch_failures_total', { operation: 'watch' }),
      kept: await value('viewmesh_operator_cached_objects', { namespace: 'apps' }),
    },
    { lists: 2, watches: 2, failedLists: 1, failedWatches: 1, kept: 2 },
  )
})

test('a reflector says how long the API server has been silent, and whether others wait', async () => {
  const startedMs = performance.now()
  open()
  assert.equal(reflector.isInitialized(), false)
  await reflector.initialized(AbortSignal.timeout(60_000))
  assert.equal(reflector.isInitialized(), true)
  const silentMs = reflector.silentForMs()
  assert.ok(silentMs >= 0 && silentMs <= performance.now() - startedMs, `${silentMs}`)
  assert.equal(reflector.standsAlone, false)
})
