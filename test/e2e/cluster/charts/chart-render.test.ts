import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { repository } from '../../../support/repository.ts'
import { type Cluster, openCluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { helm, type RenderedObject, refusalOf, renderChart } from '../support/helm.ts'

/** The values of `charts/<chart>/ci`, by chart and name; each is one way to use the chart. */
const matrix = ['operator', 'generator', 'host'].flatMap((chart) =>
  readdirSync(`${repository}/charts/${chart}/ci`).map((file) => ({
    chart,
    file: `charts/${chart}/ci/${file}`,
    values: parse(readFileSync(`${repository}/charts/${chart}/ci/${file}`, 'utf8')),
  })),
)

for (const { chart, file } of matrix) {
  test(`${file}: helm lint --strict finds nothing`, async () => {
    const { code, stdout } = await helm(['lint', '--strict', `charts/${chart}`, '-f', file])
    assert.equal(code, 0, stdout)
  })

  test(`${file}: rendering twice gives the same, as GitOps needs it`, async () => {
    const { values } = matrix.find((entry) => entry.file === file) ?? { values: {} }
    const release = { name: 'mainnet', namespace: 'apps' }
    const [first, second] = [
      await renderChart(chart, release, values),
      await renderChart(chart, release, values),
    ]
    assert.deepEqual(first, second)
  })
}

describe('the API server, asked strictly and without storing anything', () => {
  let cluster: Cluster
  let namespaces: string[]

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    cluster = await openCluster()
    await cluster.installDefinitions()
    namespaces = [await cluster.createNamespace(), await cluster.createNamespace()]
  })
  after(async () => {
    await Promise.all(namespaces.map((name) => cluster.deleteNamespace(name)))
    cluster.close()
  })

  for (const { chart, file, values } of matrix) {
    test(`${file}: every object is taken`, async () => {
      const [namespace = '', other = ''] = namespaces
      const given = structuredClone(values)
      if (given.scope?.namespaces !== undefined) given.scope.namespaces = [namespace, other]
      const objects = await renderChart(chart, { name: 'mainnet', namespace }, given)
      for (const object of objects.filter(isServed)) {
        const { code, stderr } = await cluster.kubectl(
          [
            ...['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'],
            ...['--field-manager', 'viewmesh-test', '--force-conflicts'],
            ...['--namespace', object.metadata.namespace ?? namespace],
          ],
          JSON.stringify(object),
        )
        assert.equal(code, 0, `${object.kind} ${object.metadata.name}: ${stderr}`)
      }
    })
  }

  test('an install adopts existing CRDs only with --take-ownership', async () => {
    const [namespace = ''] = namespaces
    const values = { global: { imageRegistry: 'localhost' }, scope: { clusterWide: false } }
    const install = ['install', 'another', 'charts/operator', '--namespace', namespace]
    const refused = await helm([...install, '--dry-run=server'], values)
    assert.match(refused.stderr, /generators\.viewmesh\.io.* cannot be imported.* ownership/)
    const taken = await helm([...install, '--dry-run=server', '--take-ownership'], values)
    assert.equal(taken.code, 0, taken.stderr)
  })
})

/**
 * The Prometheus operator's kinds are not installed here, so their fields are not checked; the pods of
 * `helm test` need the account made before them, and run in the tests that install.
 */
function isServed({ apiVersion, kind }: RenderedObject): boolean {
  return apiVersion !== 'monitoring.coreos.com/v1' && kind !== 'Pod'
}

test('the CRDs of the chart are those of crds/, kept when the release goes', async () => {
  const values = { global: { imageRegistry: 'localhost' } }
  const objects = await renderChart('operator', { name: 'op', namespace: 'viewmesh' }, values)
  for (const kind of ['generator', 'host']) {
    const definition = parse(readFileSync(`${repository}/crds/${kind}.yaml`, 'utf8'))
    const found = objects.find(({ metadata }) => metadata.name === definition.metadata.name)
    assert.deepEqual(found?.['spec'], definition.spec)
    assert.equal(found?.metadata.annotations?.['helm.sh/resource-policy'], 'keep')
  }
  const without = await renderChart(
    'operator',
    { name: 'op', namespace: 'viewmesh' },
    { ...values, crds: { install: false } },
  )
  assert.equal(
    without.some(({ kind }) => kind === 'CustomResourceDefinition'),
    false,
  )
})

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

for (const clusterWide of [true, false]) {
  test(`operator RBAC ${clusterWide ? 'of a cluster' : 'of namespaces'} lists no Secrets and has no wildcard`, async () => {
    const objects = await renderChart(
      'operator',
      { name: 'op', namespace: 'viewmesh' },
      { global: { imageRegistry: 'localhost' }, scope: { clusterWide } },
    )
    const kinds = objects.map(({ kind }) => kind)
    assert.equal(kinds.includes('ClusterRole'), clusterWide)
    const rules = objects
      .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
      .flatMap((role) => role['rules'] as Rule[])
    for (const { apiGroups, resources, verbs } of rules) {
      assert.equal([...apiGroups, ...resources, ...verbs].includes('*'), false)
      for (const verb of ['escalate', 'bind', 'impersonate', 'deletecollection']) {
        assert.equal(verbs.includes(verb), false)
      }
      if (resources.includes('secrets')) assert.deepEqual(verbs, ['get', 'create', 'patch'])
    }
  })
}

const upstream = { service: { name: 'geth' } }
const registry = { imageRegistry: 'localhost' }

const alone = { mode: 'standalone', existingSecret: 'a', global: registry }

/** Fields that only the operator heeds: chart, a spec that has one, and what to do instead. */
const ignoredAlone: readonly (readonly [string, string, object, string])[] = [
  ['paused', 'host', { paused: true }, 'leave it out'],
  ['rollout', 'host', { rollout: 'Auto' }, 'leave it out; each upgrade of the release replaces'],
  [
    'identity.deletionPolicy',
    'host',
    { identity: { deletionPolicy: 'Delete' } },
    'leave it out, and delete the Secret or the claims',
  ],
  [
    'storage.data.deletionPolicy',
    'host',
    { storage: { data: { deletionPolicy: 'Delete' } } },
    'leave it out, and delete the Secret or the claims',
  ],
  [
    'storage.restartToResize',
    'generator',
    { storage: { restartToResize: true } },
    'leave it out, and delete the pod',
  ],
  [
    'schemaAuth.allowedNamespaces',
    'generator',
    { schemaAuth: { allowedNamespaces: ['apps'] } },
    'leave it out, and give a key',
  ],
  [
    'identity.secretRef',
    'host',
    { identity: { secretRef: { name: 'b' } } },
    'leave it out, and set existingSecret',
  ],
]

const release = { name: 'mainnet', namespace: 'apps' }
const address = '/ip4/203.0.113.7/tcp/9171'

test('host: addresses of replicas and Secrets for images are handed on to the operator', async () => {
  const [host] = await renderChart('host', release, {
    mode: 'operator',
    announce: [[address]],
    global: { imagePullSecrets: [{ name: 'registry' }] },
    spec: {
      services: { p2p: { type: 'NodePort', publicHealth: false } },
      podTemplate: { spec: { nodeSelector: { disk: 'fast' } } },
    },
  })
  assert.deepEqual(host?.['spec'], {
    services: { p2p: { type: 'NodePort', publicHealth: false, announce: [[address]] } },
    podTemplate: {
      spec: { nodeSelector: { disk: 'fast' }, imagePullSecrets: [{ name: 'registry' }] },
    },
  })
})

test('host: standalone, each replica gets its own addresses', async () => {
  const objects = await renderChart('host', release, {
    ...alone,
    announce: [[], [address]],
    spec: { replicas: 2 },
  })
  const config = objects.find(({ kind }) => kind === 'ConfigMap')
  assert.deepEqual(config?.['data'], {
    'bootstrap-peers': '',
    siblings: '',
    'announce-0': '',
    'announce-1': `${address}\n`,
  })
})

/** Values that are refused, with what helm says to it. */
const refused: readonly (readonly [string, string, object, RegExp])[] = [
  ['no mode', 'host', { global: registry }, /Say who runs the host: --set mode=operator/],
  ['a mode that is none', 'host', { mode: 'auto' }, /mode/],
  ['no registry', 'host', { mode: 'standalone', existingSecret: 'a' }, /Say where the images are/],
  ['no registry', 'operator', {}, /Say where the images are: --set global.imageRegistry=/],
  [
    'no execution node',
    'generator',
    { mode: 'operator', global: registry },
    /Say where the execution node is/,
  ],
  [
    'two execution nodes',
    'generator',
    {
      mode: 'operator',
      global: registry,
      spec: { upstream: { ...upstream, url: { http: ['http://a'] } } },
    },
    /by exactly one of/,
  ],
  [
    'standalone without a Secret',
    'generator',
    { mode: 'standalone', global: registry, spec: { upstream } },
    /kubectl create secret generic mainnet-generator-keyring --namespace apps --from-literal=0="\$\(openssl rand -base64 32\)" --from-literal=schema-keys=/,
  ],
  [
    'three replicas standalone without a Secret',
    'host',
    { mode: 'standalone', global: registry, spec: { replicas: 3 } },
    /--from-literal=0=.* --from-literal=1=.* --from-literal=2=/,
  ],
  [
    'references to Generators without the operator',
    'host',
    {
      mode: 'standalone',
      existingSecret: 'a',
      global: registry,
      spec: { generators: [{ name: 'x' }] },
    },
    /spec.generators needs the operator/,
  ],
  ...ignoredAlone.map(
    ([field, chart, spec, remedy]) =>
      [
        `${field} without the operator`,
        chart,
        { ...alone, spec: { ...(chart === 'generator' ? { upstream } : {}), ...spec } },
        new RegExp(`spec\\.${field} has no effect without the operator: ${remedy}`),
      ] as const,
  ),
  [
    'annotations of a resource that is not made',
    'host',
    { ...alone, annotations: { 'viewmesh.io/roll-at': 'now' } },
    /annotations are those of the resource, which mode=standalone does not make/,
  ],
  [
    'the execution node’s pods, which the operator finds,',
    'generator',
    { mode: 'operator', spec: { upstream }, executionNode: { labels: { app: 'geth' } } },
    /executionNode has no effect with the operator, .* by spec\.upstream\.podSelector/,
  ],
  [
    'an end of names, which is the operator’s,',
    'host',
    { mode: 'operator', clusterDomain: 'example.org' },
    /clusterDomain has no effect with the operator, .*: set clusterDomain there/,
  ],
  [
    'a second name of the Secret with keys',
    'host',
    { mode: 'operator', existingSecret: 'a', spec: { identity: { secretRef: { name: 'b' } } } },
    /existingSecret and spec\.identity\.secretRef both name the Secret/,
  ],
  [
    'a second list of addresses',
    'host',
    { ...alone, announce: [[address]], spec: { services: { p2p: { announce: [[address]] } } } },
    /announce and spec\.services\.p2p\.announce both say/,
  ],
  [
    'a name that is too long',
    'host',
    { mode: 'operator', global: registry, nameOverride: 'a'.repeat(41) },
    /at most 40/,
  ],
  ['an unknown value', 'host', { mode: 'operator', replicas: 2 }, /replicas/],
  ['an unknown field of the spec', 'host', { mode: 'operator', spec: { replica: 2 } }, /replica/],
  ['a spec of the wrong type', 'host', { mode: 'operator', spec: { replicas: 'two' } }, /replicas/],
  ['too many replicas', 'host', { mode: 'operator', spec: { replicas: 17 } }, /replicas/],
  ['an unknown value', 'operator', { global: registry, image: { name: 'x' } }, /name/],
  ['a log level that is none', 'operator', { global: registry, logLevel: 'loud' }, /logLevel/],
  [
    'several operators without election',
    'operator',
    { global: registry, replicaCount: 2, leaderElection: { enabled: false } },
    /Several replicas without leader election would write against each other/,
  ],
  [
    'a Lease that ends before its leader stops writing',
    'operator',
    { global: registry, leaderElection: { leaseDuration: '10s' } },
    /renewDeadline \(10s\) has to be shorter than leaseDuration \(10s\)/,
  ],
  [
    'pauses between attempts that leave time for one only',
    'operator',
    { global: registry, leaderElection: { retryPeriod: '6s' } },
    /retryPeriod \(6s\) half of renewDeadline at most/,
  ],
  [
    'a time without its unit',
    'operator',
    { global: registry, leaderElection: { retryPeriod: '2' } },
    /retryPeriod/,
  ],
  [
    'a pull secret that has no name',
    'operator',
    { global: { ...registry, imagePullSecrets: ['pull'] } },
    /imagePullSecrets/,
  ],
  [
    'namespaces that would have no effect',
    'operator',
    { global: registry, scope: { namespaces: ['apps'] } },
    /scope.namespaces has no effect while scope.clusterWide is true/,
  ],
]

for (const [what, chart, values, message] of refused) {
  test(`${chart}: ${what} is refused with what to do`, async () => {
    assert.match(await refusalOf(chart, values), message)
  })
}

test('all that has no effect without the operator is reported at once', async () => {
  const spec = { paused: true, rollout: 'Auto', identity: { deletionPolicy: 'Delete' } }
  const said = await refusalOf('host', { ...alone, spec, annotations: { a: 'b' } })
  const reported = said.split('\n').filter((line) => line.endsWith('or use mode=operator.'))
  assert.deepEqual(
    reported.map((line) => line.split(' ')[0]),
    ['spec.identity.deletionPolicy', 'spec.paused', 'spec.rollout', 'annotations'],
  )
})
