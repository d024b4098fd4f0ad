/** What is watched of the Hosts that a View selects, before it is said how the View stands there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host, ViewResource } from '../../../../operator/api.ts'
import type { HostSituation } from '../../../../operator/reconcile/evaluate/view-at-host.ts'
import {
  selectedHosts,
  situationsOf,
} from '../../../../operator/reconcile/evaluate/view-situations.ts'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import type { ViewAtReplica } from '../../../../operator/reconcile/observe/view-at-replica.ts'
import { childMetadata, selectorLabels } from '../../../../operator/resources/names/metadata.ts'
import { podName } from '../../../../operator/resources/names/names.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { environment } from '../../../../src/service/contract.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { plainDefinition, viewWith } from '../../../support/resources/view-cases.ts'
import { viewOf } from '../../support/operator-view.ts'

const minimal = readHost('host-minimal')
const host: Host = { ...minimal, spec: { ...minimal.spec, replicas: 3 } }
const { namespace } = host.metadata
const id = `0x${'1'.repeat(64)}`
const posted = viewWith('senders', { definition: plainDefinition }, namespace)
const byID = viewWith('registered', { registryID: id }, namespace)

const live: ViewAtReplica = {
  ...{ id, state: 'live', name: 'Sender', type: 'Sender', message: null },
  ...{ rows: 7, lastBlock: 9 },
}
/** What a replica reports that was asked for its Views, or for health alone. */
const reporting = (views: readonly ViewAtReplica[] | null): HealthView => ({
  ...(parseHealth(JSON.stringify({ program: 'host' })) ?? assert.fail()),
  views,
})

interface Watched {
  readonly view?: ViewResource
  /** By ordinal. */
  readonly said?: readonly (HealthView | null | undefined)[]
  /** The variables of each container of the pod template; no StatefulSet where there are none. */
  readonly containers?: readonly (readonly string[])[]
  /** The files for which there was no room. */
  readonly left?: readonly string[]
}

function situationOf({ view = posted, said = [], containers, left = [] }: Watched): HostSituation {
  const pods = said.map((_, ordinal) => ({
    kind: 'Pod',
    metadata: { name: podName(host, ordinal), namespace, labels: selectorLabels(host) },
    status: { podIP: `10.0.0.${ordinal}` },
  }))
  const template = {
    spec: {
      containers: containers?.map((env) =>
        env.length === 0 ? {} : { env: env.map((name) => ({ name })) },
      ),
    },
  }
  const set = {
    kind: 'StatefulSet',
    metadata: childMetadata(host, 'mainnet-host'),
    spec: { template },
  }
  const objects = [host, ...pods, ...(containers === undefined ? [] : [set])]
  const parts = {
    view: viewOf(objects as unknown as KubernetesObject[]),
    observer: { view: (_: string, { ordinal }: { ordinal: number }) => said[ordinal] },
    isLeft: (_: Host, name: string) => left.includes(name),
  }
  const [situation, ...others] = situationsOf(parts, view, id)
  assert.deepEqual(others, [])
  return situation ?? assert.fail('no Host is selected')
}

test('each replica serves the View, does not know it, or was not asked for it', () => {
  const elsewhere = { ...live, id: `0x${'2'.repeat(64)}` }
  const { isAsked, reports } = situationOf({
    said: [reporting([elsewhere, live]), reporting([elsewhere]), reporting(null)],
  })
  assert.equal(isAsked, true)
  assert.deepEqual(
    reports,
    new Map([
      [0, live],
      [1, null],
      [2, undefined],
    ]),
  )
  assert.deepEqual(situationOf({ said: [null] }).reports, new Map([[0, undefined]]))
})

test('nothing is said of a Host before each replica that runs was asked', () => {
  assert.equal(situationOf({ said: [reporting([live]), undefined] }).isAsked, false)
  assert.equal(situationOf({ said: [reporting([live]), null] }).isAsked, true)
  assert.equal(situationOf({ said: [] }).isAsked, true)
})

test('pods read Views where a container has the folder, and so do those still to be made', () => {
  const folder = ['HOST_PORT', environment.viewsDir]
  assert.equal(situationOf({ containers: [['HOST_PORT']] }).isOutdated, true)
  assert.equal(situationOf({ containers: [[]] }).isOutdated, true)
  assert.equal(situationOf({ containers: [[], ['HOST_PORT'], folder] }).isOutdated, false)
  assert.equal(situationOf({}).isOutdated, false)
  assert.equal(situationOf({ view: byID, containers: [['HOST_PORT']] }).isOutdated, false)
})

test('a View has no room only where a replica does not have it, and never one by its ID', () => {
  const left = [`${id}.view`]
  const [serving, unaware] = [reporting([live]), reporting([])]
  assert.equal(situationOf({ said: [serving, unaware], left }).isLeft, true)
  assert.equal(situationOf({ said: [serving, serving], left }).isLeft, false)
  assert.equal(situationOf({ said: [serving, unaware], left: ['other.view'] }).isLeft, false)
  assert.equal(situationOf({ said: [null], left }).isLeft, false)
  const registered = situationOf({ view: byID, said: [unaware], left })
  assert.deepEqual([registered.isLeft, registered.isRegistered], [false, true])
  assert.equal(situationOf({}).isRegistered, false)
})

test('a View is of another chain where its query says so', () => {
  const query = 'Arbitrum__One__Log { address }'
  const view = viewWith('other', { definition: { ...plainDefinition, query } }, namespace)
  assert.equal(situationOf({ view }).isForeign, true)
  assert.equal(situationOf({}).isForeign, false)
})

test('Hosts that a View selects come by name, without others and those being deleted', () => {
  const named = (name: string, more: object = {}): object => ({
    ...host,
    metadata: { ...host.metadata, name, uid: name, ...more },
  })
  const hosts = [
    ...['second', 'third', 'first'].map((name) => named(name)),
    named('terminating', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    named('elsewhere', { namespace: 'elsewhere' }),
  ]
  const names = selectedHosts(viewOf(hosts as KubernetesObject[]), posted).map(
    ({ metadata }) => metadata.name,
  )
  assert.deepEqual(names, ['first', 'second', 'third'])
})
