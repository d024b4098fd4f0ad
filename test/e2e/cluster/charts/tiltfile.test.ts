import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { repository } from '../../../support/repository.ts'
import { helm } from '../support/helm.ts'
import { type Evaluate, findStarlark } from '../support/starlark.ts'

/** What Tilt offers that only has to be recorded. */
const recorded = [
  ...['version_settings', 'allow_k8s_contexts', 'docker_build', 'fall_back_on', 'sync', 'run'],
  ...['k8s_kind', 'k8s_yaml', 'k8s_resource', 'local_resource', 'port_forward', 'blob'],
]

interface Call {
  readonly name: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
}

interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: {
    readonly image?: object
    readonly template?: { readonly spec: { readonly containers: readonly Container[] } }
  }
}

interface Container {
  readonly image: string
  readonly livenessProbe?: object
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean }
}

const text = (path: string): string => readFileSync(`${repository}/${path}`, 'utf8')
const objectsOf = (yaml: string): object[] =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS() as object | null)
    .filter((object) => object !== null)

/** What the instructions of a Dockerfile take from the context. */
function copiedFromContext(dockerfile: string): string[] {
  const copies = [...dockerfile.matchAll(/^(?:COPY|ADD) (.+)$/gm)].map(([, rest = '']) =>
    rest.split(' '),
  )
  const fromContext = copies.filter((words) => !words.some((word) => word.startsWith('--from=')))
  return fromContext.flatMap((words) => words.filter((word) => !word.startsWith('--')).slice(0, -1))
}

/** Stand-ins for Tilt's functions: they note what they are called with; YAML is what it really is. */
function prelude(settings: object, chart: readonly object[]): string {
  const samples = ['anvil', 'devnet', 'view'].map((name) => `charts/samples/${name}.yaml`)
  const data = {
    settings,
    chart,
    files: Object.fromEntries(samples.map((path) => [path, objectsOf(text(path))])),
  }
  return `
calls = []
data = json.decode(${JSON.stringify(JSON.stringify(data))})
def record(name):
    def stub(*args, **kwargs):
        calls.append({"name": name, "args": list(args), "kwargs": dict(kwargs)})
        return {"call": name, "args": list(args), "kwargs": dict(kwargs)}
    return stub
${recorded.map((name) => `${name} = record("${name}")`).join('\n')}
TRIGGER_MODE_MANUAL = "manual"
def read_json(path, default = None):
    return data["settings"]
def helm(path, **kwargs):
    calls.append({"name": "helm", "args": [path], "kwargs": dict(kwargs)})
    return "chart"
def decode_yaml_stream(what):
    return data[what]
def read_yaml_stream(path):
    return data["files"][path]
def encode_yaml_stream(objects):
    return objects
`
}

describe('the Tiltfile, evaluated in Starlark with stand-ins for Tilt', () => {
  let evaluate: Evaluate | null
  let chart: object[]

  before(async () => {
    evaluate = await findStarlark()
    const set = ['image.repository=viewmesh-operator', 'operands.generator=g', 'operands.host=h']
    const { stdout } = await helm([
      ...['template', 'viewmesh-operator', 'charts/operator', '--kube-version', '1.34.0'],
      ...set.flatMap((value) => ['--set', value]),
    ])
    chart = objectsOf(stdout)
  })

  async function calls(settings: object = {}): Promise<readonly Call[]> {
    assert.ok(evaluate)
    const program = `${prelude(settings, chart)}\n${text('Tiltfile')}\nresult = json.encode(calls)`
    return JSON.parse(await evaluate(program))
  }

  /** Where there is no interpreter and no way to one it says so aloud, and fails in continuous integration. */
  function tiltTest(name: string, body: () => Promise<void>): void {
    test(name, async (t) => {
      if (evaluate !== null) return await body()
      const message = 'NOT RUN: no starlark on PATH, and starlark-pyo3 cannot be installed'
      assert.equal(process.env['CI_STARTED'], undefined, message)
      t.skip(message)
    })
  }

  const named = (all: readonly Call[], name: string): Call[] =>
    all.filter((call) => call.name === name)

  tiltTest('only the kind cluster is touched, unless settings name another', async () => {
    const [contexts] = named(await calls(), 'allow_k8s_contexts')
    assert.deepEqual(contexts?.args, [['kind-viewmesh']])
    const [others] = named(await calls({ allowed_contexts: ['mine'] }), 'allow_k8s_contexts')
    assert.deepEqual(others?.args, [['mine']])
  })

  tiltTest('each image has a target that exists, and is sent all that it copies', async () => {
    const builds = named(await calls(), 'docker_build')
    assert.deepEqual(
      builds.map(({ args, kwargs }) => [args[0], kwargs['target']]),
      [
        ['viewmesh-operator', 'operator-dev'],
        ['viewmesh-generator', 'generator'],
        ['viewmesh-host', 'host'],
        ['viewmesh-toolkit', 'toolkit'],
        ['localhost/viewmesh-anvil', undefined],
      ],
    )
    for (const { kwargs } of builds.slice(0, -1)) {
      const dockerfile = text(String(kwargs['dockerfile']))
      assert.match(dockerfile, new RegExp(`^FROM .* AS ${kwargs['target']}$`, 'm'))
      const sent = kwargs['only'] as readonly string[]
      for (const path of sent) assert.ok(existsSync(`${repository}/${path}`), path)
      // What is ignored is neither watched nor sent.
      assert.equal(kwargs['ignore'], undefined)
      const missing = copiedFromContext(dockerfile).filter((path) => !sent.includes(path))
      assert.deepEqual(missing, [])
    }
  })

  tiltTest(
    'a change of a source goes into the running operator, one of a package rebuilds it',
    async () => {
      const all = await calls()
      assert.deepEqual(
        named(all, 'sync').map(({ args }) => args),
        [
          ['src', '/opt/viewmesh/src'],
          ['operator', '/opt/viewmesh/operator'],
        ],
      )
      assert.deepEqual(named(all, 'fall_back_on')[0]?.args, [
        ['package.json', 'package-lock.json', 'images'],
      ])
      const deployments = applied(all).filter(({ kind }) => kind === 'Deployment')
      const operator = deployments.find(({ metadata }) => metadata.name === 'viewmesh-operator')
      const [container] = operator?.spec?.template?.spec.containers ?? []
      assert.match(container?.image ?? '', /^viewmesh-operator:/)
      assert.equal(container?.securityContext.readOnlyRootFilesystem, false)
      assert.equal(container?.livenessProbe, undefined)
    },
  )

  function applied(all: readonly Call[]): KubernetesObject[] {
    return named(all, 'k8s_yaml')
      .map(({ args }) => args[0])
      .filter((found): found is KubernetesObject[] => Array.isArray(found))
      .flat()
  }

  tiltTest(
    'the samples run the images that are built, in the order in which they need each other',
    async () => {
      const all = await calls()
      const samples = applied(all).filter(({ kind }) => kind === 'Generator' || kind === 'Host')
      assert.deepEqual(
        samples.map(({ kind, metadata, spec }) => [kind, metadata.namespace, spec?.image]),
        [
          ['Generator', 'viewmesh', { repository: 'viewmesh-generator', tag: 'dev' }],
          ['Host', 'viewmesh', { repository: 'viewmesh-host', tag: 'dev' }],
        ],
      )
      const needs = named(all, 'k8s_resource').map(({ args, kwargs }) => [
        kwargs['new_name'] ?? args[0],
        kwargs['resource_deps'] ?? [],
      ])
      assert.deepEqual(needs, [
        ['viewmesh-operator', []],
        ['anvil', []],
        ['generator', ['viewmesh-operator', 'anvil']],
        ['host', ['generator']],
        ['view', ['host']],
      ])
      const views = applied(all).filter(({ kind }) => kind === 'View')
      assert.deepEqual(
        views.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
        ['viewmesh/payments'],
      )
      assert.deepEqual(named(all, 'k8s_resource').at(-1)?.kwargs['objects'], ['payments:view'])
    },
  )

  tiltTest('without samples there is the operator alone', async () => {
    const all = await calls({ samples: false })
    assert.equal(
      applied(all).some(({ kind }) => kind === 'Host'),
      false,
    )
    assert.deepEqual(
      named(all, 'k8s_resource').map(({ args }) => args[0]),
      ['viewmesh-operator'],
    )
  })

  tiltTest('the values given to helm are values of the chart', async () => {
    const [call] = named(await calls(), 'helm')
    const set = ((call?.kwargs['set'] as string[] | undefined) ?? []).flatMap((value) => [
      '--set',
      value,
    ])
    const { code, stderr } = await helm([
      ...['template', 'viewmesh-operator', 'charts/operator', '--kube-version', '1.34.0', ...set],
    ])
    assert.equal(code, 0, stderr)
  })
})
