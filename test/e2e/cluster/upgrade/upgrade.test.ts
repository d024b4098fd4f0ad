import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { V1LeaseSpec } from '@kubernetes/client-node'
import { requests } from '../../../../operator/api/annotations.ts'
import { repository } from '../../../support/repository.ts'
import { canAccount } from '../support/can-i.ts'
import { type Cluster, openCluster, restrictedLevel } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  inNamespace,
  type Namespaced,
  writeNode,
} from '../support/cluster-resources.ts'
import { helm, imageValues, type ReleaseCommand, releasesIn, untilReady } from '../support/helm.ts'
import { expectNoResources } from '../support/no-resources.ts'
import { inNext, writeVersion } from '../support/other-version.ts'
import { podLife } from '../support/pod-life.ts'

/** An operator: its chart, and the tag of its images, which is also that of the operands it chooses. */
interface Version {
  readonly folder: string
  readonly tag: string | undefined
}

/** Tag of an older version to begin with, which is its commit; without one, `next` is what comes after. */
const olderCommit = process.env['VIEWMESH_TEST_UPGRADE_FROM'] ?? ''
const isNext = olderCommit === ''
/** A row for each block. */
const definition = { query: 'Block { number }', sdl: 'type Height { number: String }' }
const skip = isNext ? false : 'only the next version is known to differ in it'

await expectNobodyElse()

/**
 * Two versions of the operator, one after the other, over the same Generator, Host and View. It looks after
 * every namespace, and its chart brings the definitions, so nothing else may be at work in the cluster.
 */
describe('an upgrade of the operator, which looks after the whole cluster', () => {
  let cluster: Cluster
  /** Where the operator is, and where it works. */
  let home: string
  let place: string
  let here: Namespaced
  let release: ReleaseCommand
  let old: Version
  let young: Version

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    const checkout = { folder: repository, tag: undefined }
    const tag = isNext ? 'next' : olderCommit
    const other = { folder: await writeVersion(tag), tag }
    old = isNext ? checkout : other
    young = isNext ? other : checkout
    cluster = await openCluster()
    home = await cluster.createNamespace(restrictedLevel)
    place = await cluster.createNamespace(restrictedLevel)
    here = inNamespace(cluster, place)
    release = releasesIn(home)
    // Other tests leave it, and here it comes with the new version, as wherever Views are new.
    if (!knowsViews(old)) await withoutViews()
    await writeNode(cluster, place)
  })
  after(async () => {
    await helm(['uninstall', 'op', '--namespace', home, '--wait', '--ignore-not-found'])
    const kept = ['priorityclass', `op-viewmesh-operator-${home}-generator`, '--ignore-not-found']
    await cluster.kubectl(['delete', ...kept])
    await cluster.deleteNamespace(home)
    await cluster.deleteNamespace(place)
    await cluster.installDefinitions()
    cluster.close()
    for (const { folder } of [old, young])
      if (folder !== repository) rmSync(folder, { recursive: true })
  })

  const chartOf = ({ folder }: Version): string => `${folder}/charts/operator`
  const valuesOf = ({ tag }: Version): object => ({
    image: imageValues(clusterImage('operator', tag)),
    operands: { generator: clusterImage('generator', tag), host: clusterImage('host', tag) },
  })
  const kubectl = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(['--namespace', home, ...args])
    assert.equal(code, 0, stderr)
    return stdout
  }
  const allReady = async (): Promise<void> => {
    await here.reason('Generator', 'kept', 'Ready', 'AllReady')
    await here.reason('Host', 'kept', 'Ready', 'AllReady')
  }
  /** An older version may know no Views, and pods that it made then read none. */
  const knowsViews = ({ folder }: Version): boolean => existsSync(`${folder}/crds/view.yaml`)
  const withoutViews = async (): Promise<void> => {
    const command = ['delete', 'crd', 'views.viewmesh.io', '--ignore-not-found']
    const { code, stderr } = await cluster.kubectl(command)
    assert.equal(code, 0, stderr)
  }
  const writeView = async (): Promise<void> => {
    await here.write({ kind: 'View', name: 'kept', spec: { definition } })
  }
  /** Waits until the operator that is at work now has looked at the View. */
  const lookedAtView = async (mark: string): Promise<void> => {
    await here.patch('View', 'kept', {
      metadata: { annotations: { [requests.reconcileAt]: mark } },
    })
    await eventually(async () => {
      const { lastHandledReconcileAt } = await here.status('View', 'kept')
      assert.equal(lastHandledReconcileAt, mark)
    })
  }
  const lives = async (): Promise<string[]> =>
    await Promise.all(['kept-generator-0', 'kept-host-0'].map((pod) => podLife(here, pod)))
  const peerID = async (kind: 'Generator' | 'Host'): Promise<string> =>
    await eventually(async () => {
      const { nodes = [] } = await here.status(kind, 'kept')
      assert.ok(nodes[0]?.peerID)
      return nodes[0].peerID
    })

  test('it makes a Generator and a Host Ready in another namespace, by the rights of the chart', async () => {
    const args = ['install', 'op', chartOf(old), '--take-ownership', ...untilReady]
    await release(args, valuesOf(old))
    await here.write(generatorOf('kept'))
    await here.write(hostOf('kept', { generators: [{ name: 'kept' }] }))
    await here.reason('Host', 'kept', 'SchemaInSync', 'Matched')
    await allReady()
    if (!knowsViews(old)) return
    await writeView()
    await here.reason('View', 'kept', 'Ready', 'ViewServed')
  })

  test('it may neither list nor watch Secrets anywhere, and hand on no right', async () => {
    const can = canAccount(cluster, home, 'op-viewmesh-operator')
    for (const where of ['--all-namespaces', `--namespace=${place}`, `--namespace=${home}`]) {
      for (const verb of ['list', 'watch', 'delete', 'update']) {
        assert.equal(await can(verb, 'secrets', where), false, `${verb} ${where}`)
      }
    }
    assert.equal(await can('get', 'secrets', '--namespace', place), true)
    assert.equal(await can('watch', 'hosts.viewmesh.io', '--all-namespaces'), true)
    assert.equal(await can('create', 'clusterrolebindings', '--all-namespaces'), false)
    assert.equal(await can('*', '*', '--all-namespaces'), false)
  })

  const operatorPod = async (): Promise<string> => {
    const path = '--output=jsonpath={.items[0].metadata.name}'
    return await kubectl('get', 'pods', '--selector', 'app.kubernetes.io/name=operator', path)
  }
  /** Changes what the Host is to connect to, and waits until that has come of it. */
  const edit = async (number: number): Promise<void> => {
    const peer = `/dns4/peer-${number}.example.org/tcp/9171/p2p/${await peerID('Generator')}`
    // While definitions change, the API server may for a moment not know the resource.
    await eventually(async () => {
      await here.patch('Host', 'kept', { spec: { bootstrapPeers: [peer] } })
    })
    await eventually(async () => {
      const { data = {} } = (await here.find('ConfigMap', 'kept-host-config')) ?? {}
      assert.ok(data['bootstrap-peers']?.includes(peer))
    })
  }
  /** Edits over and over while that goes on, and once more after it. */
  const editDuring = async (goingOn: Promise<unknown>): Promise<void> => {
    let isOver = false
    const over = goingOn.finally(() => {
      isOver = true
    })
    const editing = async (): Promise<void> => {
      let edits = 0
      for (; !isOver; edits += 1) await edit(edits)
      await edit(edits)
    }
    await Promise.all([over, editing()])
  }
  /** Runs helm, and waits until the operator's pod is another one. Gives the logs of both. */
  const replaceOperator = async (
    args: readonly string[],
    values?: object,
  ): Promise<{ before: LogLine[]; after: LogLine[] }> => {
    const pod = await operatorPod()
    const log = kubectl('logs', pod, '--follow')
    await editDuring(
      release([...args, ...untilReady], values).then(
        async () => await kubectl('wait', '--for=delete', `pod/${pod}`, '--timeout=90s'),
      ),
    )
    return {
      before: linesOf(await log),
      after: linesOf(await kubectl('logs', await operatorPod())),
    }
  }
  const leaseTransitions = async (): Promise<number> => {
    const lease = await inNamespace(cluster, home).find('Lease', 'op-viewmesh-operator')
    return ((lease?.spec ?? {}) as V1LeaseSpec).leaseTransitions ?? 0
  }

  test('no pod is restarted, no change is missed, and never do both versions write', async () => {
    const running = await lives()
    const transitions = await leaseTransitions()
    const logs = await replaceOperator(['upgrade', 'op', chartOf(young)], valuesOf(young))
    assert.deepEqual(await lives(), running)

    assert.equal(await leaseTransitions(), transitions + 1)
    const [leading = 0] = timesOf(logs.after, 'became the leader')
    assert.ok(leading > 0)
    const [before, later] = [logs.before, logs.after].map((log) => timesOf(log, 'object written'))
    assert.ok(before?.length && later?.length)
    assert.ok(Math.max(...before) <= leading && leading <= Math.min(...later))
  })

  test('what it would build differently waits, and a condition says so', async () => {
    for (const kind of ['Generator', 'Host'] as const) {
      const { message } = await here.reason(kind, 'kept', 'UpdateAvailable', 'NewTemplate')
      assert.ok(message.includes(requests.rollAt), message)
    }
    await allReady()
  })

  test('a View is served on, or says how pods of an operator that knew none are replaced', async () => {
    const running = await lives()
    if (!knowsViews(old)) await writeView()
    await lookedAtView('upgraded')
    if (knowsViews(old)) await here.reason('View', 'kept', 'Ready', 'ViewServed')
    else {
      const { message } = await here.reason('View', 'kept', 'Served', 'HostNeedsUpdate')
      assert.ok(message.includes(requests.rollAt), message)
    }
    assert.deepEqual(await lives(), running)
  })

  test('what the new version adds beside the pods is there at once', { skip }, async () => {
    for (const kind of ['Generator', 'Host'] as const) {
      const { spec } = (await here.find(kind, 'kept')) ?? {}
      const fields = spec as Readonly<Record<string, unknown>>
      assert.equal(fields[inNext.field.name], inNext.field.value)
    }
    await eventually(async () => {
      const service = await here.find('Service', 'kept-host')
      assert.equal(service?.metadata.annotations?.[inNext.serviceAnnotation], 'yes')
    })
  })

  const watched = [
    'ConfigMap',
    'NetworkPolicy',
    'Service',
    'ServiceAccount',
    'StatefulSet',
  ] as const
  test('every kind is watched on: what others change is changed back', async () => {
    const running = await lives()
    await Promise.all(
      watched.map(async (kind) => {
        const name = kind === 'ConfigMap' ? 'kept-host-config' : 'kept-host'
        const partOf = 'app.kubernetes.io/part-of'
        await here.patch(kind, name, { metadata: { labels: { [partOf]: 'others' } } })
        await eventually(async () => {
          const { labels = {} } = (await here.find(kind, name))?.metadata ?? {}
          assert.equal(labels[partOf], 'viewmesh')
        })
      }),
    )
    assert.deepEqual(await lives(), running)
  })

  test('roll-at replaces the pods of one resource, which keeps its identity', async () => {
    const [generator, host] = await lives()
    const id = await peerID('Host')
    const annotations = { [requests.rollAt]: 'now' }
    await here.patch('Host', 'kept', { metadata: { annotations } })
    await here.reason('Host', 'kept', 'UpdateAvailable', 'UpToDate')
    await eventually(async () => assert.notEqual((await lives())[1], host))
    await allReady()
    await here.reason('View', 'kept', 'Ready', 'ViewServed')
    const image = clusterImage('host', young.tag)
    assert.equal((await here.status('Host', 'kept')).image, image)
    const pod = await here.find('Pod', 'kept-host-0')
    assert.ok(JSON.stringify(pod?.spec).includes(image))
    if (isNext) assert.equal(pod?.metadata.annotations?.[inNext.podAnnotation], 'yes')
    assert.equal(await peerID('Host'), id)
    assert.equal((await lives())[0], generator)
  })

  test('going back to the version before restarts no pod and misses no change either', async () => {
    const running = await lives()
    await replaceOperator(['rollback', 'op', '1'])
    assert.deepEqual(await lives(), running)
    await here.reason('Host', 'kept', 'UpdateAvailable', 'NewTemplate')
    await here.reason('Generator', 'kept', 'UpdateAvailable', 'UpToDate')
    assert.ok(await here.find('View', 'kept'))
    if (knowsViews(old)) await lookedAtView('rolled-back')
    await here.reason('View', 'kept', 'Ready', 'ViewServed')
  })

  test('uninstalled, it leaves the definitions, the resources and their pods', async () => {
    const running = await lives()
    await release(['uninstall', 'op', '--wait'])
    for (const kind of ['Generator', 'Host', 'View'] as const)
      assert.ok(await here.find(kind, 'kept'))
    assert.deepEqual(await lives(), running)
  })

  test('installed again under its name, it finds them', async () => {
    const running = await lives()
    await release(['install', 'op', chartOf(old), ...untilReady], valuesOf(old))
    await allReady()
    if (knowsViews(old)) await lookedAtView('installed')
    await here.reason('View', 'kept', 'Ready', 'ViewServed')
    assert.deepEqual(await lives(), running)
  })
})

/**
 * Throws where there are Generators or Hosts, which the operator would reconcile as well. Those of tests
 * that have just ended are waited for: a namespace goes some time after it was deleted.
 */
async function expectNobodyElse(): Promise<void> {
  const others = await openCluster()
  const terminating = ['namespaces', '--field-selector=status.phase=Terminating', '-o', 'name']
  const { stdout: going } = await others.kubectl(['get', ...terminating])
  if (going !== '') {
    const names = going.trim().split('\n')
    await others.kubectl(['wait', '--for=delete', '--timeout=180s', ...names])
  }
  await expectNoResources(others)
  others.close()
}

interface LogLine {
  readonly time: string
  readonly msg: string
}

function linesOf(log: string): LogLine[] {
  return log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
}

/** When a sentence was written, in milliseconds. */
function timesOf(log: readonly LogLine[], sentence: string): number[] {
  return log.filter(({ msg }) => msg === sentence).map(({ time }) => Date.parse(time))
}
