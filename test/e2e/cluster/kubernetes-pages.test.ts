/**
 * The manifests and commands that the pages about Kubernetes show: a real API server takes them, and helm renders
 * them. No operator is at work here; what becomes of resources is for other suites.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { stringify } from 'yaml'
import {
  manifestsIn,
  type ShownManifest,
  wholeManifest,
} from '../../docs/support/kubernetes-manifests.ts'
import { type Block, blocksOf, commandsOf } from '../../docs/support/page.ts'
import { withoutPlaceholders } from '../../docs/support/placeholders.ts'
import { shellCommands } from '../../docs/support/shell-commands.ts'
import type { Cluster } from './support/cluster.ts'
import { diagnoseFailures } from './support/cluster-diagnostics.ts'
import { hostOf, type Namespaced } from './support/cluster-resources.ts'
import { helm } from './support/helm.ts'
import { runShown } from './support/shown-command.ts'
import { openTestNamespace } from './support/test-namespace.ts'

const pages = [
  'docs/kubernetes/quickstart.md',
  'docs/kubernetes/charts.md',
  'docs/kubernetes/sidecar.md',
  'docs/kubernetes/exposing.md',
  'docs/kubernetes/scaling.md',
  'docs/kubernetes/identities.md',
  'docs/kubernetes/security.md',
  'docs/kubernetes/operations.md',
  'docs/kubernetes/alerts.md',
] as const

const isOurs = ({ marker = '' }: Block): boolean =>
  marker.includes('test/e2e/cluster/kubernetes-pages.test.ts')

describe('what the pages about Kubernetes show, on a real API server', () => {
  let cluster: Cluster
  let namespace: string
  let close: () => Promise<void>
  let here: Namespaced

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    ;({ cluster, namespace, here, close } = await openTestNamespace())
    for (const name of ['devnet', 'mainnet']) {
      await here.write(hostOf(name))
    }
    await cluster.apply(here.path('Secret', 'mainnet-generator-schema-keys'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'mainnet-generator-schema-keys' },
    })
    await cluster.apply(here.path('Service', 'geth'), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'geth' },
      spec: { ports: [{ port: 8545 }] },
    })
  })
  after(() => close())

  /** Other suites use the definitions at the same time, so these are not written. */
  const runHere = async (line: string): Promise<void> => {
    const command = withoutPlaceholders(line).replace(' crds/', '$& --dry-run=server')
    await runShown(command, namespace)
  }

  /** Has the API server check a manifest, with rules in CEL and names of all fields. */
  const take = async (shown: ShownManifest): Promise<void> => {
    const { metadata, ...manifest } = wholeManifest(shown)
    const own = stringify({ ...manifest, metadata: { ...metadata, namespace } })
    const args = ['apply', '--dry-run=server', '--validate=strict', '-f', '-']
    const { code, stderr } = await cluster.kubectl(args, own)
    assert.equal(code, 0, `${own}${stderr}`)
  }

  /** Renders what a line with `helm install` or `helm upgrade` would install. */
  const render = async (line: string): Promise<void> => {
    const [[, verb, ...words] = []] = shellCommands(withoutPlaceholders(line))
    const left = words.filter((word) => !['--create-namespace', '--reuse-values'].includes(word))
    // An upgrade says only what is new.
    const before = verb === 'upgrade' ? ['--set', 'global.imageRegistry=localhost'] : []
    const { code, stdout, stderr } = await helm([
      ...['template', ...left, ...before, '--kube-version', '1.34.0'],
    ])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^kind: /m)
  }

  for (const page of pages) {
    const blocks = blocksOf(page).filter(isOurs)
    const manifests = blocks.filter(({ language }) => language === 'yaml')
    const commands = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => commandsOf(page, text))

    test(`${page}: its commands work, and the API server takes its manifests`, async () => {
      assert.ok(blocks.length > 0)
      for (const line of commands) {
        if (line.startsWith('helm ')) await render(line)
        else await runHere(line)
      }
      for (const shown of manifests.flatMap(({ text }) => manifestsIn(text))) await take(shown)
    })
  }
})
