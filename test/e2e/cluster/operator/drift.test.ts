import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { records } from '../../../../operator/api/annotations.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  type LiveObject,
  type Namespaced,
  parked,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

const kinds = [
  'ConfigMap',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'Service',
  'ServiceAccount',
  'StatefulSet',
] as const
type Kind = (typeof kinds)[number]
const backWithinMs = 10_000

/** Steps as managedFields has them: `f:name` a field, `k:{...}` the item of a list with these keys. */
type Leaf = readonly string[]

/** Everything in an object that one manager owns, and that is a text, a number or a truth. */
function ownedLeaves(fields: object, live: unknown, path: Leaf = []): Leaf[] {
  const entries = Object.entries(fields).filter(([name]) => name !== '.')
  if (entries.length === 0) return typeof live === 'object' ? [] : [path]
  return entries.flatMap(([step, below]) =>
    ownedLeaves(below, stepInto(live, step), [...path, step]),
  )
}

/** Where a step leads in an object: a field's name, or the place of an item in a list. */
function placeOf(live: unknown, step: string): string | number {
  if (step.startsWith('f:')) return step.slice(2)
  if (!step.startsWith('k:') || !Array.isArray(live)) return step
  const keys = Object.entries(JSON.parse(step.slice(2)))
  return live.findIndex((item) => keys.every(([key, value]) => item[key] === value))
}

function stepInto(live: unknown, step: string): unknown {
  return Object(live)[placeOf(live, step)]
}

function valueAt(object: unknown, leaf: Leaf): unknown {
  return leaf.reduce<unknown>(stepInto, object)
}

/** The leaf as a JSON pointer, where the items of lists are now. */
function pointerTo(object: unknown, leaf: Leaf): string {
  let found = object
  const steps = leaf.map((step) => {
    const place = placeOf(found, step)
    found = stepInto(found, step)
    return String(place).replaceAll('~', '~0').replaceAll('/', '~1')
  })
  return `/${steps.join('/')}`
}

function replacing(path: string, value: unknown): object {
  return { op: 'replace', path, value }
}

function mapValues<T>(record: Readonly<Record<string, T>>, change: (value: T) => unknown): object {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

function otherValue(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  return `${value}x`
}

describe('what others do to the objects of a Generator and a Host, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
    const upstream = { podSelector: { matchLabels: { app: 'node' } } }
    await here.write(generatorOf('owned', { upstream, ...parked }))
    const p2p = { type: 'ClusterIP', annotations: { 'example.org/a': 'b' } }
    const generators = [{ name: 'owned' }]
    await here.write(hostOf('owned', { replicas: 2, services: { p2p }, generators, ...parked }))
    await here.reason('Generator', 'owned', 'Ready', 'Unschedulable')
    await here.reason('Host', 'owned', 'Ready', 'Unschedulable')
    await eventually(async () => {
      const claims = await here.list('PersistentVolumeClaim')
      const marked = claims.filter(({ metadata }) => metadata.annotations?.[records.network])
      assert.equal(marked.length, 6)
      const statuses = await Promise.all(
        (['Generator', 'Host'] as const).map((kind) => here.status(kind, 'owned')),
      )
      const known = statuses.flatMap(({ nodes = [] }) => nodes)
      assert.equal(known.filter(({ keyringFingerprint }) => keyringFingerprint).length, 3)
      assert.ok((await dataOf('owned-host-schema-keys'))['token'])
      const set = await here.find('StatefulSet', 'owned-host')
      assert.match(JSON.stringify(set?.spec), /GENERATOR_SCHEMA_URL/)
    })
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const owned = async (): Promise<[Kind, LiveObject][]> => {
    const all = await Promise.all(
      kinds.map(async (kind) =>
        (await here.list(kind)).map((object): [Kind, LiveObject] => [kind, object]),
      ),
    )
    return all.flat().filter(([, { metadata }]) => metadata.name.startsWith('owned-'))
  }

  const dataOf = async (secret: string): Promise<Readonly<Record<string, string>>> =>
    (await here.find('Secret', secret))?.data ?? {}

  // First, since no more than 25 different Events about one object are written in ten minutes.
  test('what others add to selectors, ports and rules is taken away within ten seconds', async () => {
    const added: readonly (readonly [Kind, string, object, string])[] = [
      ['Service', 'owned-host-nodes', { selector: { x: 'y' } }, 'spec.selector.x'],
      [
        'PodDisruptionBudget',
        'owned-host',
        { selector: { matchLabels: { 'example.org/x': 'y' } } },
        'spec.selector.matchLabels.example.org/x',
      ],
      [
        'PodDisruptionBudget',
        'owned-host',
        { selector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
        'spec.selector.matchExpressions',
      ],
      [
        'Service',
        'owned-host',
        { ports: [{ name: 'ssh', port: 22, protocol: 'TCP' }] },
        'spec.ports[22]',
      ],
      [
        'Service',
        'owned-host-p2p-0',
        { ports: [{ name: 'udp', port: 9171, protocol: 'UDP' }] },
        'spec.ports[9171]',
      ],
      ['NetworkPolicy', 'owned-generator', { ingress: [{}] }, 'spec.ingress'],
      ['NetworkPolicy', 'owned-host', { egress: [{}] }, 'spec.egress'],
    ]
    for (const [kind, name, spec, path] of added) {
      const before = await here.find(kind, name)
      // Lists are merged by their keys, as kubectl edit and kubectl apply do.
      const type =
        kind === 'NetworkPolicy'
          ? 'application/merge-patch+json'
          : 'application/strategic-merge-patch+json'
      const { status } = await cluster.request('PATCH', here.path(kind, name), {
        body: { spec },
        type,
      })
      assert.equal(status, 200, path)
      await eventually(async () => {
        assert.deepEqual((await here.find(kind, name))?.spec, before?.spec, path)
        const notes = (await here.notes('DriftCorrected')).filter((note) => note.includes(name))
        assert.ok(
          notes.some((note) => note.includes(path)),
          notes.join('\n'),
        )
      }, backWithinMs)
    }
  })

  test('every deleted object is back within ten seconds; of the StatefulSet an Event says so', async () => {
    for (const [kind, { metadata }] of await owned()) {
      await here.delete(kind, metadata.name)
      await eventually(async () => {
        const found = await here.find(kind, metadata.name)
        assert.ok(found, `${kind} ${metadata.name} is gone`)
        assert.notEqual(found.metadata.uid, metadata.uid)
      }, backWithinMs)
    }
    await eventually(async () => {
      const notes = await here.notes('DriftCorrected')
      assert.ok(notes.includes('StatefulSet owned-host had been deleted.'), notes.join('\n'))
    })
  })

  test('every Secret but a keyring is back within ten seconds, edited or deleted; an Event says so', async () => {
    const names = ['owned-generator-connection', 'owned-host-connection', 'owned-host-schema-keys']
    await Promise.all(names.map(backAsItWas))
    await eventually(async () => {
      const notes = await here.notes('DriftCorrected')
      for (const what of ['changed', 'deleted'])
        assert.ok(notes.includes(`Secret owned-generator-connection had been ${what}.`))
    })
  })

  const backAsItWas = async (name: string): Promise<void> => {
    const first = await here.find('Secret', name)
    const { metadata: { uid, labels = {} } = { uid: '' }, data = {} } = first ?? {}
    const isBack = async (): Promise<LiveObject> => {
      const found = await here.find('Secret', name)
      assert.deepEqual([found?.metadata.labels, found?.data], [labels, data], name)
      assert.ok(found)
      return found
    }
    await here.patch('Secret', name, {
      metadata: { labels: mapValues(labels, otherValue) },
      data: mapValues(data, () => btoa('another value')),
    })
    await eventually(isBack, backWithinMs)
    await here.delete('Secret', name)
    await eventually(async () => assert.notEqual((await isBack()).metadata.uid, uid), backWithinMs)
  }

  test('every edited field is restored within ten seconds, with an Event for the ConfigMap', async () => {
    let edited = 0
    const all = await owned()
    // A Generator has the same kinds, and one Service that a Host does not have.
    const tried = all.filter(
      ([
        ,
        {
          metadata: { name },
        },
      ]) => /^owned-(host|.*-upstream$)/.test(name),
    )
    for (const [kind, { metadata }] of tried) {
      const first = (await here.find(kind, metadata.name)) as LiveObject & {
        metadata: { managedFields: { manager: string; fieldsV1: object }[] }
      }
      const ours = first.metadata.managedFields.find(
        ({ manager }) => manager === 'viewmesh-operator',
      )
      for (const leaf of ownedLeaves(ours?.fieldsV1 ?? {}, first)) {
        if (await edit(first, kind, leaf)) edited += 1
      }
    }
    assert.ok(edited > 100, `${edited} fields could be edited`)
    await eventually(async () => {
      const notes = await here.notes('FieldConflict')
      assert.ok(
        notes.some((note) => /^Fields of ConfigMap owned-host-config .*conflict with "/.test(note)),
      )
    })
    await eventually(async () => {
      const set = await here.find('StatefulSet', 'owned-host')
      assert.ok(set)
      const { template } = set.spec as { template: { spec: { containers: { name: string }[] } } }
      assert.deepEqual(
        template.spec.containers.map(({ name }) => name),
        ['host'],
      )
    }, backWithinMs)
  })

  /** Changes one field and waits until it is as at first; false where Kubernetes refuses the change. */
  const edit = async (first: LiveObject, kind: Kind, leaf: Leaf): Promise<boolean> => {
    const { name } = first.metadata
    const wanted = valueAt(first, leaf)
    const isTaken = await eventually(async () => {
      const live = await here.find(kind, name)
      assert.deepEqual(valueAt(live, leaf), wanted)
      const { status } = await cluster.request('PATCH', here.path(kind, name), {
        // Where items of lists are holds for this version alone.
        body: [
          replacing('/metadata/resourceVersion', live?.metadata.resourceVersion),
          replacing(pointerTo(live, leaf), otherValue(wanted)),
        ],
        type: 'application/json-patch+json',
      })
      assert.notEqual(status, 409)
      return status === 200
    })
    if (!isTaken) return false
    await eventually(async () => {
      const now = await here.find(kind, name)
      assert.deepEqual(valueAt(now, leaf), wanted, `${kind} ${name} ${leaf.join(' ')}`)
    }, backWithinMs)
    return true
  }

  test('deleted schema keys are generated again within ten seconds, beside the one from before', async () => {
    const { keys: old = '' } = await dataOf('owned-generator-schema-keys')
    await here.delete('Secret', 'owned-generator-schema-keys')
    const listed = await eventually(async () => {
      const { keys, former } = await dataOf('owned-generator-schema-keys')
      assert.equal(former, old)
      return atob(keys ?? '').split(',')
    }, backWithinMs)
    assert.equal(listed.length, 2)
    assert.notEqual(listed[0], atob(old))
    assert.equal(listed[1], atob(old))
    await eventually(async () => {
      const { metadata } = (await here.find('Secret', 'owned-generator-connection')) ?? {}
      assert.match(metadata?.annotations?.[records.schemaKeyWaits] ?? '', /^2/)
    }, backWithinMs)
    const longAgo = new Date(Date.now() - 600_000).toISOString()
    await eventually(async () => {
      // An evaluation that read the Secret before may write the time back that it found.
      const connection = await here.find('Secret', 'owned-generator-connection')
      if (connection?.metadata.annotations?.[records.schemaKeyWaits]?.startsWith('2')) {
        const annotations = { [records.schemaKeyWaits]: longAgo }
        await here.patch('Secret', 'owned-generator-connection', { metadata: { annotations } })
      }
      assert.equal(atob((await dataOf('owned-host-schema-keys'))['token'] ?? ''), listed[0])
      const { 'schema-key': shown = '' } = await dataOf('owned-generator-connection')
      assert.equal(atob(shown), listed[0])
    })
    const renewed = { [records.schemaKeysRenewed]: '2026-01-01T00:00:00Z' }
    const metadata = { annotations: renewed }
    await here.patch('Secret', 'owned-generator-schema-keys', { metadata })
    await eventually(async () => {
      const { keys = '', former } = await dataOf('owned-generator-schema-keys')
      assert.deepEqual([atob(keys), former], [listed[0], undefined])
    })
  })

  test('marks of claims, edited or taken off, are back within ten seconds', async () => {
    for (const { metadata } of await here.list('PersistentVolumeClaim')) {
      const { name, annotations = {} } = metadata
      const fingerprint = annotations[records.keyringFingerprint]
      const others = fingerprint === undefined ? {} : { [records.keyringFingerprint]: 'another' }
      await here.patch('PersistentVolumeClaim', name, {
        metadata: { annotations: { [records.network]: null, ...others } },
      })
      await eventually(async () => {
        const found = await here.find('PersistentVolumeClaim', name)
        assert.deepEqual(found?.metadata.annotations, annotations, name)
      }, backWithinMs)
    }
  })

  test('what others add is left alone, what is no longer wanted goes', async () => {
    await here.patch('Service', 'owned-host', {
      metadata: { annotations: { 'example.org/mine': 'x' } },
    })
    const p2p = { type: 'ClusterIP' }
    await here.write(
      hostOf('owned', { replicas: 1, services: { p2p }, networkPolicy: { enabled: false } }),
    )
    await eventually(async () => {
      const names = (await owned()).map(([kind, { metadata }]) => `${kind} ${metadata.name}`)
      assert.deepEqual(
        names.filter((name) => name.includes('owned-host')),
        [
          'ConfigMap owned-host-config',
          'Service owned-host',
          'Service owned-host-nodes',
          'Service owned-host-p2p-0',
          'ServiceAccount owned-host',
          'StatefulSet owned-host',
        ],
      )
      const service = await here.find('Service', 'owned-host-p2p-0')
      assert.equal(service?.metadata.annotations?.['example.org/a'], undefined)
    }, backWithinMs)
    const api = await here.find('Service', 'owned-host')
    assert.equal(api?.metadata.annotations?.['example.org/mine'], 'x')
  })

  test('an object of a needed name that belongs to others is not taken over', async () => {
    const path = `/api/v1/namespaces/${space.namespace}/configmaps/theirs-host-config`
    const metadata = { name: 'theirs-host-config' }
    await cluster.apply(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } })
    await here.write(hostOf('theirs'))
    const { message } = await here.reason('Host', 'theirs', 'Stalled', 'NameTaken')
    assert.match(message, /ConfigMap theirs-host-config belongs to something else/)
    assert.deepEqual((await here.find('ConfigMap', 'theirs-host-config'))?.data, { a: 'b' })
    assert.equal(await here.find('StatefulSet', 'theirs-host'), null)
    await here.delete('ConfigMap', 'theirs-host-config')
    await eventually(async () => {
      assert.ok(await here.find('StatefulSet', 'theirs-host'))
    })
  })
})
