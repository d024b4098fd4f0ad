import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVersion } from '../../../../src/service/version.ts'
import { isHook, notesOf, type RenderedObject, refusalOf, renderChart } from '../support/helm.ts'

const base = { global: { imageRegistry: 'localhost' } }

async function operatorChart(values: object): Promise<RenderedObject[]> {
  return await renderChart(
    'operator',
    { name: 'op', namespace: 'viewmesh' },
    { ...base, ...values },
  )
}

interface PodSpec {
  readonly automountServiceAccountToken: boolean
  readonly volumes: readonly { readonly name: string }[]
  readonly containers: readonly [
    {
      readonly args?: readonly string[]
      readonly env: readonly { readonly name: string; readonly value: string }[]
      readonly volumeMounts: readonly { readonly name: string }[]
    },
  ]
}

function podOf(objects: readonly RenderedObject[]): PodSpec {
  const { spec } = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
    readonly spec: { readonly template: { readonly spec: PodSpec } }
  }
  return spec.template.spec
}

/** The settings that the operator's container is given. */
function settingsOf(objects: readonly RenderedObject[]): Readonly<Record<string, string>> {
  const [{ env }] = podOf(objects).containers
  return Object.fromEntries(env.map(({ name, value }) => [name, value]))
}

const priorityClasses = (objects: readonly RenderedObject[]): readonly RenderedObject[] =>
  objects.filter(({ kind }) => kind === 'PriorityClass')

test('Generators have the default priority, so that not every pod preempts them', async () => {
  const objects = await operatorChart({})
  assert.deepEqual(priorityClasses(objects), [])
  assert.equal(settingsOf(objects)['GENERATOR_PRIORITY_CLASS'], undefined)
})

const createPriorityClass = true

test('Generators get a class below all pods where values ask for it', async () => {
  const objects = await operatorChart({ operands: { createPriorityClass } })
  const [own, ...others] = priorityClasses(objects)
  assert.deepEqual(others, [])
  assert.deepEqual([own?.['value'], own?.['preemptionPolicy']], [-10, 'Never'])
  assert.equal(own?.metadata.annotations?.['helm.sh/resource-policy'], 'keep')
  assert.equal(settingsOf(objects)['GENERATOR_PRIORITY_CLASS'], own?.metadata.name)
})

for (const [what, values, wanted] of [
  [
    'a class is named',
    { operands: { createPriorityClass, generatorPriorityClass: 'given' } },
    'given',
  ],
  [
    'the operator has namespaces only',
    { operands: { createPriorityClass }, scope: { clusterWide: false } },
    undefined,
  ],
] as const) {
  test(`where ${what}, no priority class is made, even if values ask for it`, async () => {
    const objects = await operatorChart(values)
    assert.deepEqual(priorityClasses(objects), [])
    assert.equal(settingsOf(objects)['GENERATOR_PRIORITY_CLASS'], wanted)
  })
}

for (const [what, values, wanted] of [
  ['comes from the registry', {}, `localhost/viewmesh-toolkit:${readVersion()}`],
  ['is what values name', { operands: { toolkit: 'mine:1' } }, 'mine:1'],
  [
    'is not set where values name neither it nor a registry, as before there was one',
    { global: {}, image: { repository: 'o' }, operands: { generator: 'g', host: 'h' } },
    undefined,
  ],
] as const) {
  test(`the image of Jobs that register Views ${what}`, async () => {
    assert.equal(settingsOf(await operatorChart(values))['TOOLKIT_IMAGE'], wanted)
  })
}

async function notes(chart: string, values: object): Promise<string> {
  return await notesOf(chart, { name: 'a', namespace: 'apps' }, { ...base, ...values })
}

test("the notes say how to add a replica's key to a Secret of the user", async () => {
  const given = { mode: 'standalone', existingSecret: 'mine', spec: { replicas: 2 } }
  const said = await notes('host', given)
  assert.match(said, /Secret mine needs a key for each replica, named by its ordinal: "0", "1"/)
  assert.ok(
    said.includes(
      String.raw`kubectl --namespace apps patch secret mine --patch "{\"stringData\": {\"2\": \"$(openssl rand -base64 32)\"}}"`,
    ),
    said,
  )
  assert.match(
    said,
    /Add the key, then delete the\s+pod:\s+kubectl --namespace apps delete pod a-host-2\n/,
  )
  assert.doesNotMatch(await notes('host', objectsOf.host), /needs a key for each replica/)
})

test('where Generators have the default priority, the notes say how the node comes first', async () => {
  const wanted =
    /default priority.*give (?:its|the node's) pods a priority class above the default/s
  const crds = { install: false }
  assert.match(await notes('operator', { crds }), wanted)
  for (const operands of [{ generatorPriorityClass: 'given' }, { createPriorityClass }]) {
    assert.doesNotMatch(await notes('operator', { crds, operands }), wanted)
  }
  const { generator } = objectsOf
  assert.match(await notes('generator', generator), wanted)
  const podTemplate = { spec: { priorityClassName: 'given' } }
  const given = { ...generator, spec: { ...generator.spec, podTemplate } }
  assert.doesNotMatch(await notes('generator', given), wanted)
})

test('the notes say what an uninstall leaves and what it deletes, with the names', async () => {
  const said = async (chart: string, values: object): Promise<string[]> => {
    return (await notes(chart, values)).split('\n').filter((line) => /^uninstalling/i.test(line))
  }
  const mode = 'operator'
  const identity = { deletionPolicy: 'Delete' }
  const storage = { data: { deletionPolicy: 'Delete' } }
  const upstream = { service: { name: 'geth' } }
  const found = 'and a new release of this name finds them again.'
  assert.deepEqual(await said('host', { mode }), [
    `Uninstalling leaves Secret a-host-keyring, the keys volumes, the data volumes, ${found}`,
  ])
  assert.deepEqual(await said('generator', { mode, spec: { upstream, identity } }), [
    'UNINSTALLING DELETES Secret a-generator-keyring, the keys volumes, as deletionPolicy says.',
    `Uninstalling leaves the data volumes, ${found}`,
  ])
  assert.deepEqual(
    await said('host', { mode, existingSecret: 'own', spec: { identity, storage } }),
    [
      'UNINSTALLING DELETES the keys volumes, the data volumes, as deletionPolicy says.',
      `Uninstalling leaves Secret own, ${found}`,
    ],
  )
  assert.deepEqual(await said('host', { mode, spec: { identity, storage } }), [
    'UNINSTALLING DELETES Secret a-host-keyring, the keys volumes, the data volumes, as deletionPolicy says.',
  ])
})

const objectsOf = {
  operator: {},
  generator: {
    mode: 'standalone',
    existingSecret: 'a',
    spec: { upstream: { service: { name: 'geth' } } },
  },
  host: { mode: 'operator' },
}

for (const [chart, values] of Object.entries(objectsOf)) {
  test(`${chart}: labels for all are on every object that stays, and replace none of its own`, async () => {
    const global = { ...base.global, commonLabels: { team: 'chain' } }
    const release = { name: 'a', namespace: 'apps' }
    const objects = await renderChart(chart, release, { ...values, global })
    for (const object of objects.filter((found) => !isHook(found))) {
      assert.equal(object.metadata.labels?.['team'], 'chain', `${object.kind}`)
    }
    const commonLabels = { 'app.kubernetes.io/name': 'other' }
    assert.match(
      await refusalOf(chart, { ...values, global: { commonLabels } }),
      /'app.kubernetes.io\/name'/,
    )
  })
}

test('a platform that chooses the user gets pods without one', async () => {
  const podSecurityContext = { runAsUser: null, runAsGroup: null }
  const objects = await operatorChart({ podSecurityContext })
  const specs = objects.flatMap((object) => {
    const { spec } = object as { readonly spec?: { template?: { spec: object } } }
    if (object.kind === 'Pod') return [spec]
    return object.kind === 'Deployment' ? [spec?.template?.spec] : []
  })
  assert.equal(specs.length, 2)
  for (const spec of specs as readonly { readonly securityContext: object }[]) {
    const seccompProfile = { type: 'RuntimeDefault' }
    assert.deepEqual(spec.securityContext, { runAsNonRoot: true, seccompProfile })
  }
})

test('workers and the resync interval are values', async () => {
  const usual = settingsOf(await operatorChart({}))
  assert.deepEqual([usual['WORKERS'], usual['RESYNC_INTERVAL_MS']], ['4', '5000'])
  const controller = { workers: 16, resyncIntervalMs: 86_400_000 }
  const given = settingsOf(await operatorChart({ controller }))
  assert.deepEqual([given['WORKERS'], given['RESYNC_INTERVAL_MS']], ['16', '86400000'])
})

/** Settings of the operator that a value becomes, as it is without that value and as it is with it. */
for (const [what, names, values, usual, given] of [
  [
    'the times of the Lease',
    ['LEASE_DURATION_MS', 'RENEW_DEADLINE_MS', 'RETRY_PERIOD_MS'],
    { leaderElection: { leaseDuration: '35s', renewDeadline: '30s', retryPeriod: '5s' } },
    ['15000', '10000', '2000'],
    ['35000', '30000', '5000'],
  ],
  ['the format of the log', ['LOG_FORMAT'], { logFormat: 'text' }, ['json'], ['text']],
  [
    'the pull secrets of Generators and Hosts',
    ['IMAGE_PULL_SECRETS'],
    { global: { ...base.global, imagePullSecrets: [{ name: 'a' }, { name: 'b' }] } },
    [undefined],
    ['a,b'],
  ],
] as const) {
  test(`${what}: what values say is what the operator is told`, async () => {
    const found = async (more: object): Promise<unknown[]> => {
      const settings = settingsOf(await operatorChart(more))
      return names.map((name) => settings[name])
    }
    assert.deepEqual([await found({}), await found(values)], [usual, given])
  })
}

test('flags, volumes and another way to authenticate are values', async () => {
  const pod = podOf(
    await operatorChart({
      extraArgs: ['--workers=8'],
      extraVolumes: [{ name: 'kubeconfig', secret: { secretName: 'kubeconfig' } }],
      extraVolumeMounts: [{ name: 'kubeconfig', mountPath: '/etc/kubeconfig' }],
      serviceAccount: { automount: false },
    }),
  )
  const [{ args, volumeMounts }] = pod.containers
  assert.equal(pod.automountServiceAccountToken, false)
  assert.deepEqual(args, ['--workers=8'])
  assert.deepEqual(
    [pod.volumes, volumeMounts].map((all) => all.map(({ name }) => name)),
    [
      ['tmp', 'kubeconfig'],
      ['tmp', 'kubeconfig'],
    ],
  )
})

test('what the operator may reach besides is added to its network policy', async () => {
  const rule = { to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 3128 }] }
  const egressOf = async (more: object): Promise<readonly unknown[]> => {
    const objects = await operatorChart({ networkPolicy: { enabled: true, ...more } })
    const policy = objects.find(({ kind }) => kind === 'NetworkPolicy')
    return (policy as unknown as { readonly spec: { readonly egress: unknown[] } }).spec.egress
  }
  assert.deepEqual(await egressOf({ egress: [rule] }), [...(await egressOf({})), rule])
})

test('the dashboard goes into the folder that is named', async () => {
  const annotationsOf = async (dashboard: object): Promise<unknown> => {
    const objects = await operatorChart({ metrics: { dashboard: { enabled: true, ...dashboard } } })
    const found = objects.find(({ metadata }) => metadata.name.endsWith('-dashboard'))
    return found?.metadata.annotations
  }
  assert.equal(await annotationsOf({}), undefined)
  const annotations = { team: 'chain' }
  assert.deepEqual(await annotationsOf({ annotations, folder: 'Chains' }), {
    team: 'chain',
    grafana_folder: 'Chains',
  })
})

for (const [chart, values] of [
  ['operator', { metrics: { serviceMonitor: {}, podMonitor: {} } }],
  ['host', { mode: 'operator', podMonitor: {} }],
  [
    'generator',
    {
      mode: 'operator',
      spec: { upstream: { service: { name: 'geth' } } },
      podMonitor: {},
    },
  ],
] as const) {
  test(`${chart}: a monitor leaves to Prometheus what values do not say`, async () => {
    const endpoints = async (monitor: object): Promise<unknown[]> => {
      const filled = JSON.parse(JSON.stringify(values), (key, value) =>
        key.endsWith('Monitor') ? { enabled: true, ...monitor } : value,
      )
      const release = { name: 'a', namespace: 'apps' }
      const objects = await renderChart(chart, release, { ...base, ...filled })
      return objects
        .filter(({ kind }) => kind.endsWith('Monitor'))
        .flatMap((object) => {
          const { spec } = object as unknown as { readonly spec: Record<string, unknown> }
          const [endpoint] = (spec['endpoints'] ?? spec['podMetricsEndpoints']) as object[]
          return [endpoint]
        })
    }
    const usual = await endpoints({})
    const given = { scrapeTimeout: '10s', honorLabels: true }
    assert.ok(usual.length > 0)
    assert.deepEqual(
      await endpoints(given),
      usual.map((endpoint) => ({ ...(endpoint as object), ...given })),
    )
  })
}

for (const [chart, values] of [
  ['operator', {}],
  ['generator', { mode: 'operator', spec: { upstream: { service: { name: 'geth' } } } }],
  ['host', { mode: 'operator' }],
] as const) {
  test(`${chart}: below a chart with globals of its own it is what it is without`, async () => {
    const release = { name: 'a', namespace: 'apps' }
    const render = async (globals: object): Promise<RenderedObject[]> =>
      await renderChart(chart, release, { ...values, global: { ...base.global, ...globals } })
    assert.deepEqual(await render({ storageClass: 'fast', theirs: { a: 1 } }), await render({}))
  })
}

test('without a leader election an upgrade ends the old operator before it starts the new one', async () => {
  const strategyOf = async (enabled: boolean): Promise<unknown> => {
    const objects = await operatorChart({ leaderElection: { enabled } })
    const [deployment] = objects.filter(({ kind }) => kind === 'Deployment')
    return Object(deployment?.['spec']).strategy
  }
  assert.deepEqual(await strategyOf(false), { type: 'Recreate' })
  const rollingUpdate = { maxSurge: '25%', maxUnavailable: '25%' }
  assert.deepEqual(await strategyOf(true), { type: 'RollingUpdate', rollingUpdate })
})
