/**
 * Kills the operator at random moments while Hosts are created and scaled, Generators change and Views come, go and
 * are registered, and looks then whether the cluster is as if it had never been: `npm run crash:operator -- --rounds
 * 100`. Needs the cluster that KUBECONFIG names, and the images there.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createSeededRandom } from '../../../support/seeded-random.ts'
import { openCluster } from '../support/cluster.ts'
import { writeDiagnostics } from '../support/cluster-diagnostics.ts'
import { markedClaims, normalObjects } from '../support/cluster-objects.ts'
import { alone, openOperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  inNamespace,
  parked,
  type Written,
} from '../support/cluster-resources.ts'
import { openViewsOfCrash } from './views-of-crash.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: 'crash' },
  },
})
const rounds = Number(values.rounds)
const random = createSeededRandom(values.seed)
assert.ok(Number.isSafeInteger(rounds) && rounds > 0, '--rounds takes a number above 0')

/** From the start of the process to well after its first writes. */
const longestLifeMs = 3_000
const hosts = ['one', 'two', 'three'] as const
const generators = ['four', 'five'] as const

/** What is never to change, once it was seen. */
type Identity = Readonly<Record<string, string>>

const cluster = await openCluster()
await cluster.installDefinitions()
const space = await openOperatorSpace(cluster)
const here = inNamespace(cluster, space.namespace)
const views = await openViewsOfCrash({ cluster, here })
const env = { ...alone, ...views.env }
try {
  await crash()
  process.stdout.write(`${rounds} rounds: nothing was lost, doubled or replaced\n`)
} catch (error) {
  await writeDiagnostics('kills at random moments', { cluster, space })
  throw error
} finally {
  await views.close()
  await space.close()
  cluster.close()
}

async function crash(): Promise<void> {
  await space.start({ env })
  await here.write(hostOf('running'))
  await here.reason('Host', 'running', 'Ready', 'AllReady')
  await here.write(hostOf('model', { ...parked, replicas: 2 }))
  await here.write(parkedGenerator('sole'))
  await marked('Host', 'model', 2)
  await marked('Generator', 'sole', 1)
  await views.write()
  await views.handedTo('model')
  const expectedHost = await normalObjects(here, 'model')
  const expectedGenerator = await normalObjects(here, 'sole')
  const pod = await podOf()
  const seen: Record<string, Identity> = {}
  for (let round = 1; round <= rounds; round += 1) {
    await oneRound()
    await remember(seen)
    process.stdout.write(`round ${round} of ${rounds}\n`)
  }
  await space.start({ env })
  await views.write()
  for (const name of hosts) {
    await here.write(hostOf(name, { ...parked, replicas: 2 }))
    await marked('Host', name, 2)
    await views.handedTo(name)
    assert.deepEqual(await normalObjects(here, name), expectedHost, name)
  }
  for (const name of generators) {
    await here.write(parkedGenerator(name))
    await marked('Generator', name, 1)
    assert.deepEqual(await normalObjects(here, name), expectedGenerator, name)
  }
  await here.write(hostOf('running'))
  await here.reason('Host', 'running', 'Ready', 'AllReady')
  await views.registered()
  await remember(seen)
  assert.equal(await podOf(), pod, 'the running pod was replaced')
}

/** An operator that lives for a moment, and a change that comes at another. */
async function oneRound(): Promise<void> {
  await space.stop('SIGKILL')
  const program = await space.start({ env, expectDeath: true })
  const host = hostOf(random.pick(hosts), { ...parked, replicas: random.int(3) })
  const pruning = { maxBlocks: 1_000 + random.int(3) }
  const generator = parkedGenerator(random.pick(generators), { pruning })
  const makeChange = random.pick([
    async () => await here.write(host),
    async () => await here.write(generator),
    views.change(random),
  ])
  const [lifeMs, changeMs] = [random.int(longestLifeMs), random.int(longestLifeMs)]
  const change = sleep(changeMs).then(makeChange)
  await sleep(lifeMs)
  program.process.kill('SIGKILL')
  await program.ended()
  await change
}

/** A Generator whose pod fits nowhere. */
function parkedGenerator(name: string, more: object = {}): ReturnType<typeof generatorOf> {
  const upstream = { podSelector: { matchLabels: { app: 'node' } } }
  return generatorOf(name, { upstream, ...parked, ...more })
}

/** Keys of keyrings and schemas that were there before are there still, as they were. */
async function remember(seen: Record<string, Identity>): Promise<void> {
  const secrets = [
    ...[...hosts, 'running'].map((name) => `${name}-host-keyring`),
    ...generators.map((name) => `${name}-generator-keyring`),
    ...generators.map((name) => `${name}-generator-schema-keys`),
  ]
  for (const secret of secrets) {
    const data = (await here.find('Secret', secret))?.data ?? {}
    for (const [key, value] of Object.entries(seen[secret] ?? {})) {
      assert.equal(data[key], value, `key ${key} of ${secret} changed`)
    }
    seen[secret] = data
  }
}

/** Waits until all replicas have their claims marked, and nothing is in the way. */
async function marked(kind: Written['kind'], name: string, replicas: number): Promise<void> {
  await here.reason(kind, name, 'Ready', 'Unschedulable')
  await eventually(async () => {
    const { nodes = [], observedGeneration } = await here.status(kind, name)
    const current = nodes.filter(({ ordinal }) => ordinal < replicas)
    assert.equal(current.filter(({ keyringFingerprint }) => keyringFingerprint).length, replicas)
    const resource = await here.find(kind, name)
    assert.equal(observedGeneration, resource?.metadata.generation)
    assert.equal(await here.condition(kind, name, 'Stalled'), null)
    assert.equal(await markedClaims(here, name), replicas)
  })
}

/** Which pod runs, and who it is. */
async function podOf(): Promise<unknown> {
  return await eventually(async () => {
    const pod = await here.find('Pod', 'running-host-0')
    const { nodes = [] } = await here.status('Host', 'running')
    assert.ok(nodes[0]?.peerID)
    return JSON.stringify([pod?.metadata.uid, nodes[0].keyringFingerprint, nodes[0].peerID])
  })
}
