/** The workflows are written for a service that this repository is not run by: this is what is checked of them. */
import assert from 'node:assert/strict'
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { repository } from './support/repository.ts'

const read = (path: string): string => readFileSync(`${repository}/${path}`, 'utf8')
const folder = '.github/workflows'
const files = readdirSync(`${repository}/${folder}`)

interface Step {
  readonly uses?: string
  readonly run?: string
}

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly steps: readonly Step[]
        readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> }
      }
    >
  >
}

const workflowOf = (file: string): Workflow => parse(read(`${folder}/${file}`))
const stepsOf = (file: string): readonly Step[] =>
  Object.values(workflowOf(file).jobs).flatMap(({ steps }) => steps)

/** Scripts of this repository that the steps call. */
const scripts = ['images/publish', 'images/build', 'test/e2e/cluster/kind-versions']

for (const file of files) {
  test(`${file}: actions are named by a commit, or by the tag of one version`, () => {
    for (const { uses } of stepsOf(file)) {
      if (uses !== undefined)
        assert.match(uses, /^[\w-]+(\/[\w-]+)+@([0-9a-f]{40}|v\d+\.\d+\.\d+)$/)
    }
  })

  test(`${file}: says where nothing is, neither registry nor issuer`, () => {
    assert.doesNotMatch(read(`${folder}/${file}`), /[a-z0-9-]\.(?:io|com|org|dev|net)\b/)
  })

  test(`${file}: what its steps call is there`, () => {
    const commands = stepsOf(file).flatMap(({ run }) => run ?? [])
    const called = commands.flatMap((run) => run.match(/^[a-z]+\/[a-z\d/-]+/gm) ?? [])
    assert.equal(called.length, 1)
    for (const path of called) {
      assert.ok(scripts.includes(path), path)
      accessSync(`${repository}/${path}`, constants.X_OK)
    }
  })
}

test('what the scripts run of npm exists', () => {
  const { scripts: known } = JSON.parse(read('package.json'))
  const used = scripts.flatMap((path) =>
    [...read(path).matchAll(/npm run (\S+)/g)].map(([, name]) => `${name}`),
  )
  assert.deepEqual(used, ['test:cluster', 'test:upgrade'])
  for (const name of used) assert.ok(Object.hasOwn(known, name), name)
})

test('the images that are published and verified are those that are built', () => {
  const stages = [...read('images/Dockerfile').matchAll(/^FROM .* AS (\S+)$/gm)].map(
    ([, name]) => name,
  )
  for (const path of ['images/publish', `${folder}/images.yaml`]) {
    const [, targets = ''] = read(path).match(/^ *for target in (.*); do$/m) ?? []
    assert.deepEqual(targets.split(' '), ['generator', 'host', 'operator', 'toolkit'])
    for (const target of targets.split(' ')) assert.ok(stages.includes(target), target)
  }
})

test('the versions of Kubernetes are those of the charts, of the quickstart and of the script', () => {
  const versions =
    Object.values(workflowOf('kubernetes.yaml').jobs)[0]?.strategy?.matrix['kubernetes'] ?? []
  assert.deepEqual(
    read('test/e2e/cluster/kind-versions')
      .match(/set -- (.*)/)?.[1]
      ?.split(' '),
    versions,
  )
  const minors = versions.map((version) => version.match(/^v(1\.\d+)\.\d+$/)?.[1])
  for (const chart of ['operator', 'generator', 'host']) {
    const { kubeVersion } = parse(read(`charts/${chart}/Chart.yaml`))
    assert.equal(kubeVersion, `>=${minors[0]}.0-0`)
  }
  const said = read('docs/kubernetes/quickstart.md').match(
    /Kubernetes (1\.\d+) or newer; all of it is tried on (1\.\d+)/,
  )
  assert.deepEqual([said?.[1], said?.[2]], [minors.at(0), minors.at(-1)])
})
