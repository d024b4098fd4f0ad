/**
 * What was in the cluster when a test failed, written down before the suite takes its namespaces away: a folder
 * for each failure below VIEWMESH_TEST_DIAGNOSTICS, or else below the machine's folder for temporary files. Its
 * path is printed, with what a person would check first. No value of a Secret is in it.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, type TestContext } from 'node:test'
import type { Cluster } from './cluster.ts'
import { secretValues } from './secret-values.ts'

/** What to print. */
interface Scene {
  /** Looked at in all namespaces that it made and did not delete yet. */
  readonly cluster: Cluster
  /** Operators beside the cluster. */
  readonly space?: { output(): string }
}

/** What the runner reports of a test that has ended; the package of types does not know it. */
interface EndedTest extends TestContext {
  readonly passed: boolean
}

interface Finding {
  readonly file: string
  readonly text: string
}

/**
 * Has failures of a suite's tests, and of its `before`, written down; to be called before its other hooks. What
 * `look` gives is undefined where `before` did not get so far.
 */
export function diagnoseFailures(look: () => Partial<Scene>): void {
  let isBegun = false
  const diagnose = async (title: string): Promise<void> => {
    const { cluster, ...rest } = look()
    if (cluster !== undefined) await writeDiagnostics(title, { cluster, ...rest })
  }
  beforeEach(() => {
    isBegun = true
  })
  afterEach(async (context) => {
    const { passed, fullName } = context as EndedTest
    if (!passed) await diagnose(fullName)
  })
  after(async () => {
    if (!isBegun) await diagnose('before the first test')
  })
}

/** Writes down what is there now. What cannot be read is noted in its place. */
export async function writeDiagnostics(title: string, scene: Scene): Promise<void> {
  const top = process.env['VIEWMESH_TEST_DIAGNOSTICS'] ?? join(tmpdir(), 'viewmesh-diagnostics')
  await mkdir(top, { recursive: true })
  const folder = await mkdtemp(join(top, `${new Date().toISOString().slice(0, 19)}-`))
  const found = await lookAround(scene)
  for (const { file, text } of found) await writeFile(join(folder, file), text)
  const gist = found.filter(({ file }) => /overview|events|operator/.test(file))
  const ends = gist.map(({ file, text }) => `-- ${file}\n${text.split('\n').slice(-40).join('\n')}`)
  process.stdout.write(`\n!! ${title}: what was there is in ${folder}\n${ends.join('\n')}\n`)
}

async function lookAround({ cluster, space }: Scene): Promise<Finding[]> {
  const namespaces = cluster.namespaces()
  const found = await Promise.all(namespaces.map((namespace) => lookInto(cluster, namespace)))
  const values = await Promise.all(namespaces.map((namespace) => hidden(cluster, namespace)))
  const all = [{ file: 'operator.log', text: space?.output() ?? '' }, ...found.flat()]
  return all.map(({ file, text }) => ({ file, text: without(text, values.flat()) }))
}

const kinds = [
  ...['statefulsets', 'deployments', 'jobs', 'pods', 'services', 'endpointslices'],
  ...['persistentvolumeclaims', 'configmaps', 'networkpolicies', 'poddisruptionbudgets'],
  ...['serviceaccounts', 'roles', 'rolebindings', 'leases'],
]
const diagnosed: Readonly<Record<string, readonly string[]>> = {
  'overview.txt': ['get', 'viewmesh,pods,persistentvolumeclaims', '--output=wide'],
  'resources.yaml': ['get', 'generators,hosts', '--output=yaml'],
  'objects.yaml': ['get', kinds.join(), '--output=yaml'],
  'events.txt': ['get', 'events', '--sort-by=.metadata.creationTimestamp'],
}

async function lookInto(cluster: Cluster, namespace: string): Promise<Finding[]> {
  const read = async (args: readonly string[]): Promise<string> => {
    const bounds = ['--namespace', namespace, '--request-timeout', '20s']
    const { stdout, stderr } = await cluster.kubectl([...bounds, ...args])
    return stdout + stderr
  }
  const objects = Object.entries(diagnosed).map(async ([file, args]) => ({
    file: `${namespace}-${file}`,
    text: await read(args),
  }))
  const pods = (await read(['get', 'pods', '--output=name'])).match(/^pod\/\S+$/gm) ?? []
  const logs = pods.map(async (pod) => ({
    file: `${namespace}-${pod.replace('/', '-')}.log`,
    text: (
      await Promise.all(
        [['--previous'], []].map((more) =>
          read(['logs', pod, '--all-containers', '--ignore-errors', '--prefix', ...more]),
        ),
      )
    ).join('\n'),
  }))
  return await Promise.all([...objects, ...logs])
}

async function hidden(cluster: Cluster, namespace: string): Promise<string[]> {
  const values = await secretValues(cluster, namespace).catch(() => [])
  return values.filter(({ length }) => length >= 16)
}

function without(text: string, values: readonly string[]): string {
  return values.reduce((left, value) => left.replaceAll(value, '(value of a Secret)'), text)
}
