/**
 * `npm run bench:operator`: what the operator takes for 1,000 Hosts with a pod and both volumes each,
 * in ten namespaces, on the real API server of the cluster that KUBECONFIG names; their pods are on
 * nodes of kwok. The operator watches the whole cluster.
 * `-- --hosts 100` for fewer, `-- --hosts 200 --views 200` with Views, each for the Hosts of its namespace.
 * Takes about ten minutes, and everything away again.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Cluster, openCluster } from '../../e2e/cluster/support/cluster.ts'
import { figureTable, summary } from '../figure.ts'
import { type FakeNodes, openFakeNodes } from './fake-nodes.ts'
import { buildOperator, type MeasuredOperator } from './measured-operator.ts'
import { openPremadeVolumes, type PremadeVolumes } from './premade-volumes.ts'
import { scaleFigures } from './scale-figures.ts'
import type { Place } from './scale-parts.ts'
import { openHostWatch, openPlacedWatch } from './watches.ts'
import { openWideSpace } from './wide-space.ts'

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '1000' },
    views: { type: 'string', default: '0' },
  },
})
const count = Number(values.hosts)
const viewCount = Number(values.views)
assert.ok(Number.isSafeInteger(count) && count > 0, '--hosts takes a number above 0')
assert.ok(Number.isSafeInteger(viewCount) && viewCount >= 0, '--views takes a number')

const podsPerNode = 400
/** Kubernetes' own controllers look through a whole namespace for what belongs to one StatefulSet. */
const namespaceCount = 10
const sizes = { keys: '1Mi', data: '10Mi' } as const
const peerId = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
const kubeconfig = process.env['KUBECONFIG'] ?? ''
const stopping = new AbortController()
const { signal } = stopping
const closers: (() => Promise<unknown>)[] = []
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => stopping.abort(new Error(`stopped by ${name}`)))
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

interface Room {
  readonly cluster: Cluster
  readonly namespaces: readonly string[]
  readonly folder: string
  readonly nodes: FakeNodes
  readonly volumes: PremadeVolumes
}

async function openRoom(): Promise<Room> {
  const cluster = await openCluster()
  closers.push(async () => cluster.close())
  await cluster.installDefinitions()
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-bench-'))
  closers.push(async () => rmSync(folder, { recursive: true }))
  const name = `viewmesh-bench-${randomBytes(4).toString('hex')}`
  const nodeCount = Math.ceil(count / podsPerNode)
  const nodes = await openFakeNodes({ name, count: nodeCount, pods: 500, kubeconfig }, { cluster })
  closers.push(nodes.close)
  const volumes = await openPremadeVolumes({ name }, { cluster, signal })
  closers.push(volumes.close)
  const space = await openWideSpace({ name, count: namespaceCount }, { cluster })
  closers.push(space.close)
  return { cluster, namespaces: space.namespaces, folder, nodes, volumes }
}

async function bench({ cluster, namespaces, folder, nodes, volumes }: Room): Promise<void> {
  say(`${2 * count} volumes are made, the operator is compiled`)
  for (const size of Object.values(sizes)) await volumes.make(size, count)
  const [namespace = ''] = namespaces
  const start = await buildOperator({ folder, namespace }, { cluster })
  const watch = await openHostWatch({ namespaces, kubeconfig }, { signal })
  closers.push(watch.close)
  const placed = await openPlacedWatch({ namespaces, kubeconfig }, { signal })
  closers.push(placed.close)
  const closeLater = (operator: MeasuredOperator): void => void closers.push(operator.close)
  const placesOf = (kind: string, number: number): Place[] =>
    Array.from({ length: number }, (_, index) => {
      const place = namespaces[index % namespaces.length] ?? ''
      return { namespace: place, name: `${kind}-${index}` }
    })
  const resources = {
    places: placesOf('host', count),
    views: placesOf('view', viewCount),
    spec: hostSpec(volumes.storageClassName, nodes.podSpec),
  }
  const parts = { cluster, watch, placed, start, say, signal, closeLater }
  const figures = await scaleFigures(resources, parts)
  say(figureTable(figures))
  say(summary(figures))
}

/** A Host with a peer, as most have one; none of its pods ever reaches it. */
function hostSpec(storageClassName: string, podSpec: object): object {
  return {
    bootstrapPeers: [`/dns4/peer.example.org/tcp/9171/p2p/${peerId}`],
    storage: {
      keys: { size: sizes.keys, storageClassName },
      data: { size: sizes.data, storageClassName },
    },
    podTemplate: { spec: podSpec },
  }
}

/** The latest first; one that fails is reported, and the others are still closed. */
async function closeAll(): Promise<void> {
  say('everything is taken away')
  for (const close of closers.toReversed()) {
    await close().catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
      process.exitCode = 1
    })
  }
}

try {
  await bench(await openRoom())
} finally {
  await closeAll()
}
