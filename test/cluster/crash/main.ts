/**
 * Kills the operator at random moments while Hosts are created, scaled and changed, and then looks
 * whether the cluster is as if it had never been: `npm run crash:operator -- --rounds 100`. Needs the
 * cluster that KUBECONFIG names, and the images there.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openCluster } from '../../support/cluster.ts'
import { writeDiagnostics } from '../../support/cluster-diagnostics.ts'
import { markedClaims, normalObjects } from '../../support/cluster-objects.ts'
import { alone, openOperatorSpace } from '../../support/cluster-operator.ts'
import { eventually, hostOf, inNamespace, parked } from '../../support/cluster-resources.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'

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
const names = ['one', 'two', 'three'] as const

/** What is never to change, once it was seen. */
type Identity = Readonly<Record<string, string>>

const cluster = await openCluster()
await cluster.installDefinitions()
const space = await openOperatorSpace(cluster)
const here = inNamespace(cluster, space.namespace)
try {
  await crash()
  process.stdout.write(`${rounds} rounds: nothing was lost, doubled or replaced\n`)
} catch (error) {
  await writeDiagnostics('kills at random moments', { cluster, space })
  throw error
} finally {
  await space.close()
  cluster.close()
}

async function crash(): Promise<void> {
  await space.start({ env: alone })
  await here.write(hostOf('running'))
  await here.reason('Host', 'running', 'Ready', 'AllReady')
  await here.write(hostOf('model', { ...parked, replicas: 2 }))
  await marked('model', 2)
  const expected = await normalObjects(here, 'model')
  const pod = await podOf()
  const seen: Record<string, Identity> = {}
  for (let round = 1; round <= rounds; round += 1) {
    await oneRound()
    await remember(seen)
    process.stdout.write(`round ${round} of ${rounds}\n`)
  }
  await space.start({ env: alone })
  for (const name of names) {
    await here.write(hostOf(name, { ...parked, replicas: 2 }))
    await marked(name, 2)
    assert.deepEqual(await normalObjects(here, name), expected, name)
  }
  await here.write(hostOf('running'))
  await here.reason('Host', 'running', 'Ready', 'AllReady')
  await remember(seen)
  assert.equal(await podOf(), pod, 'the running pod was replaced')
}

/** An operator that lives for a moment, and a change that comes at another. */
async function oneRound(): Promise<void> {
  await space.stop('SIGKILL')
  const program = await space.start({ env: alone, expectDeath: true })
  const name = random.pick(names)
  const replicas = random.int(3)
  const [lifeMs, changeMs] = [random.int(longestLifeMs), random.int(longestLifeMs)]
  const change = sleep(changeMs).then(() => here.write(hostOf(name, { ...parked, replicas })))
  await sleep(lifeMs)
  program.process.kill('SIGKILL')
  await program.ended()
  await change
}

/** Keys and marks that were there before are there still, as they were. */
async function remember(seen: Record<string, Identity>): Promise<void> {
  for (const name of [...names, 'running']) {
    const data = (await here.find('Secret', `${name}-host-keyring`))?.data ?? {}
    for (const [ordinal, key] of Object.entries(seen[name] ?? {})) {
      assert.equal(data[ordinal], key, `key ${ordinal} of ${name} changed`)
    }
    seen[name] = data
  }
}

/** Waits until all replicas have their claims marked, and nothing is in the way. */
async function marked(name: string, replicas: number): Promise<void> {
  await here.reason('Host', name, 'Ready', 'Unschedulable')
  await eventually(async () => {
    const { nodes = [], observedGeneration } = await here.status('Host', name)
    const current = nodes.filter(({ ordinal }) => ordinal < replicas)
    assert.equal(current.filter(({ keyringFingerprint }) => keyringFingerprint).length, replicas)
    const host = await here.find('Host', name)
    assert.equal(observedGeneration, host?.metadata.generation)
    assert.equal(await here.condition('Host', name, 'Stalled'), null)
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
