import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { repository } from '../../../support/repository.ts'
import { type JsonObject, mergePatch } from '../../../support/resources/merge-patch.ts'
import { refusalOf, renderChart } from '../support/helm.ts'
import { refusedManifests, smallest } from '../support/refused-manifests.ts'

/** Values of a chart that makes the pods itself, with this spec. */
const alone = (spec: unknown): object => ({
  mode: 'standalone',
  existingSecret: 'keyring',
  global: { imageRegistry: 'localhost' },
  spec,
})

/** Charts ask for the execution node in words of their own, in both modes. */
const own = ['spec.upstream']

/** What breaks a rule about several fields, which only the API server evaluates: where, and what it says. */
const broken = refusedManifests.flatMap(({ name, kind, change, causes }) => {
  const [, path = '', message = ''] =
    /^(spec\S*): Invalid value: "object": (.*)$/.exec(causes[0] ?? '') ?? []
  const { spec } = mergePatch(smallest[kind], change) as { readonly spec: JsonObject }
  return kind === 'View' || path === '' || own.includes(path)
    ? []
    : [{ name, chart: kind.toLowerCase(), spec, path, message }]
})

test('there are rules that standalone charts have to know', () => {
  assert.ok(broken.length > 25)
})

for (const { name, chart, spec, path, message } of broken) {
  test(`${chart} alone: ${name} is refused in the words of the definition`, async () => {
    const said = await refusalOf(chart, alone(spec))
    assert.ok(said.includes(`\n${path}: ${message}.\n`), said)
  })
}

test('names of variables that standalone charts refuse are those of the definitions', () => {
  const namesIn = (file: string, list: RegExp): string[] | undefined =>
    list
      .exec(readFileSync(`${repository}/${file}`, 'utf8'))?.[1]
      ?.match(/[A-Z][A-Z_]+/g)
      ?.map(String)
  const names = namesIn('charts/library/templates/_rules.tpl', /\$guarded := list (.*?) -\}\}/)
  assert.ok(names)
  assert.deepEqual(names, namesIn('operator/api/pod-template.ts', /e\.name in \[(.*?)\]/))
})

test('host alone: what is near to a broken rule is taken', async () => {
  const podTemplate = {
    metadata: { labels: { team: 'chain' }, annotations: { 'example.org/mesh': 'none' } },
    spec: {
      hostNetwork: true,
      terminationGracePeriodSeconds: 45,
      volumes: [{ name: 'more', emptyDir: {} }],
      containers: [
        {
          name: 'host',
          env: [{ name: 'LOG_LEVEL', value: 'debug' }],
          volumeMounts: [{ name: 'more', mountPath: '/application' }],
        },
        { name: 'proxy', image: 'a', ports: [{ containerPort: 8081 }] },
      ],
    },
  }
  const services = { p2p: { type: 'NodePort', publicHealth: false } }
  const storage = { data: { size: '2Ti' } }
  const spec = { podTemplate, services, storage, pruning: { enabled: false } }
  const release = { name: 'mainnet', namespace: 'apps' }
  assert.ok((await renderChart('host', release, alone(spec))).length > 5)
})
