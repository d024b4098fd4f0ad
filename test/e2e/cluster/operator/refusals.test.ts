import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { repository } from '../../../support/repository.ts'
import { type JsonObject, mergePatch } from '../../../support/resources/merge-patch.ts'
import { type Cluster, type ClusterAnswer, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { type RefusedManifest, refusedManifests, smallest } from '../support/refused-manifests.ts'
import { openTestNamespace } from '../support/test-namespace.ts'

type Kind = RefusedManifest['kind']

interface RefusedChange {
  readonly name: string
  readonly kind: Kind
  readonly before: JsonObject
  readonly patch: JsonObject
  readonly causes: readonly string[]
}

interface MisspeltManifest {
  readonly name: string
  readonly kind: Kind
  readonly change: JsonObject
  readonly warning: string
}

const readFixture = (name: string): unknown =>
  parse(readFileSync(`${repository}/test/fixtures/operator/${name}.yaml`, 'utf8'))
const refusedChanges = readFixture('refused-changes') as readonly RefusedChange[]
const misspeltManifests = readFixture('misspelt-manifests') as readonly MisspeltManifest[]

const mergeType = 'application/merge-patch+json'
const strict = { dryRun: 'All', fieldValidation: 'Strict' }
const warn = { dryRun: 'All', fieldValidation: 'Warn' }

/** What the API server complains of, without its remark that it stopped looking. */
function causesOf({ body }: ClusterAnswer): string[] {
  return (body.details?.causes ?? [])
    .map(({ field, message }) => `${field}: ${message}`)
    .filter((cause) => !cause.startsWith('<nil>: Invalid value: null: some validation rules'))
}

describe('what the API server refuses', () => {
  let cluster: Cluster
  let namespace: string
  let close: () => Promise<void>
  let created = 0

  const pathOf = (kind: Kind): string =>
    `/apis/viewmesh.io/v1alpha1/namespaces/${namespace}/${kind.toLowerCase()}s`

  /** Creates a resource of a new name and returns its path. */
  const create = async (kind: Kind, change: JsonObject): Promise<string> => {
    created += 1
    const name = `number-${created}`
    const body = mergePatch(mergePatch(smallest[kind], change), { metadata: { name } })
    await expectStatus(cluster.request('POST', pathOf(kind), { body }), 201)
    return `${pathOf(kind)}/${name}`
  }

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    ;({ cluster, namespace, close } = await openTestNamespace())
  })
  after(() => close())

  test('the smallest manifests are accepted, and their defaults filled in', async () => {
    for (const kind of ['Generator', 'Host', 'View'] as const) {
      const { body } = await expectStatus(
        cluster.request('POST', pathOf(kind), { body: smallest[kind], query: strict }),
        201,
      )
      assert.deepEqual(body.spec, readFixture(`defaults-${kind.toLowerCase()}`))
      assert.deepEqual(body.status, { observedGeneration: -1 })
    }
  })

  for (const { name, kind, change, causes } of refusedManifests) {
    test(`${kind}: ${name} is refused`, async () => {
      const body = mergePatch(smallest[kind], change)
      const answer = await cluster.request('POST', pathOf(kind), { body, query: strict })
      assert.equal(answer.status, 422)
      assert.deepEqual(causesOf(answer), causes)
    })
  }

  test('what is refused in a manifest is refused in a patch too', async () => {
    const paths = {
      Generator: await create('Generator', {}),
      Host: await create('Host', {}),
      View: await create('View', {}),
    }
    const accepted: string[] = []
    for (const { name, kind, change } of refusedManifests) {
      if ('metadata' in change) continue
      const options = { body: change, type: mergeType, query: warn }
      const { status } = await cluster.request('PATCH', paths[kind], options)
      if (status !== 422) accepted.push(name)
    }
    assert.deepEqual(accepted, [])
  })

  for (const { name, kind, before, patch, causes } of refusedChanges) {
    test(`${kind}: ${name} is refused`, async () => {
      const path = await create(kind, before)
      const answer = await cluster.request('PATCH', path, { body: patch, type: mergeType })
      assert.equal(answer.status, 422)
      assert.deepEqual(causesOf(answer), causes)
    })
  }

  for (const { name, kind, change, warning } of misspeltManifests) {
    test(`${kind}: ${name} is refused by kubectl apply, warned of by kubectl patch`, async () => {
      const body = mergePatch(smallest[kind], change)
      const refused = await cluster.request('POST', pathOf(kind), { body, query: strict })
      assert.equal(refused.status, 400)
      assert.ok(refused.body.message?.endsWith(`strict decoding error: ${warning}`))
      const accepted = await cluster.request('POST', pathOf(kind), { body, query: warn })
      assert.deepEqual([accepted.status, accepted.warnings], [201, [warning]])
    })
  }

  test('kubectl apply is strict and kubectl patch is not', async () => {
    const [name = ''] = (await create('Host', {})).split('/').slice(-1)
    const manifest = mergePatch(smallest.Host, { metadata: { name }, spec: { replica: 2 } })
    const inNamespace = ['--namespace', namespace]
    const applied = await cluster.kubectl(
      [...inNamespace, 'apply', '-f', '-'],
      JSON.stringify(manifest),
    )
    assert.equal(applied.code, 1)
    assert.match(applied.stderr, /strict decoding error: unknown field "spec\.replica"/)
    const patch = ['patch', 'host', name, '--type=merge', '-p', '{"spec":{"replica":2}}']
    const patched = await cluster.kubectl([...inNamespace, ...patch])
    assert.equal(patched.code, 0)
    assert.match(patched.stderr, /Warning: unknown field "spec\.replica"/)
  })

  test('a misspelt field inside podTemplate passes, which is left to the operator to judge', async () => {
    const podTemplate = { spec: { nodeSelectors: { disk: 'fast' } } }
    const body = mergePatch(smallest.Host, { spec: { podTemplate } })
    const answer = await cluster.request('POST', pathOf('Host'), { body, query: strict })
    assert.deepEqual([answer.status, answer.warnings], [201, []])
  })

  test('kubectl explain shows what a field means and its default', async () => {
    const explain = async (field: string): Promise<string> => {
      const { code, stdout, stderr } = await cluster.kubectl(['explain', field])
      assert.equal(code, 0, stderr)
      return stdout.replaceAll(/\s+/g, ' ')
    }
    assert.match(
      await explain('host.spec.replicas'),
      /FIELD: replicas <integer> .*How many pods, 0 to 16, each with its own peer ID.* Default: 1\./,
    )
    assert.match(
      await explain('host.spec.rollout'),
      /FIELD: rollout <string> ENUM: OnSpecChange Auto .* Default: OnSpecChange\./,
    )
    assert.match(
      await explain('generator.spec.start'),
      /FIELD: start <Object> .*Where an empty store starts; left out, at the newest block\..*behindHead <integer> This many blocks behind the newest one\./,
    )
  })

  test('resources of one network are found by a field selector', async () => {
    await create('Host', { spec: { chain: { network: 'Selected' } } })
    const selector = ['--field-selector', 'spec.chain.network=Selected']
    const { stdout } = await cluster.kubectl([
      '--namespace',
      namespace,
      'get',
      'hosts',
      ...selector,
      '--output',
      'name',
    ])
    assert.equal(stdout, `host.viewmesh.io/number-${created}\n`)
  })

  test('volumes may grow', async () => {
    const path = await create('Host', { spec: { storage: { data: { size: '10Gi' } } } })
    const body = { spec: { storage: { data: { size: '20Gi' } } } }
    await expectStatus(cluster.request('PATCH', path, { body, type: mergeType }), 200)
  })

  test('scaling through the scale subresource keeps to 0 and 16', async () => {
    const path = await create('Host', {})
    const scaleTo = async (replicas: number): Promise<ClusterAnswer> =>
      await cluster.request('PATCH', `${path}/scale`, {
        body: { spec: { replicas } },
        type: mergeType,
      })
    assert.equal((await scaleTo(16)).status, 200)
    assert.equal((await scaleTo(0)).status, 200)
    const refused = await scaleTo(17)
    assert.equal(refused.status, 422)
    assert.deepEqual(causesOf(refused), [
      'spec.replicas: Invalid value: 17: spec.replicas in body should be less than or equal to 16',
    ])
  })
})
