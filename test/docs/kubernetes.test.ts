/**
 * The pages about Kubernetes, as far as they can be checked without a cluster: manifests against the schemas, and
 * names in commands and texts against the code. `test/e2e/cluster/kubernetes-pages.test.ts` has an API server check them.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { ViewSpec } from '../../operator/api/view-spec.ts'
import { createViewCheck } from '../../src/compute/view-check.ts'
import { networkOfQuery } from '../../src/views/query-network.ts'
import { noSender } from '../../src/views/view-id.ts'
import { encodeView } from '../../src/views/wire.ts'
import { helmComplaints } from './support/helm-complaints.ts'
import { kubectlComplaints } from './support/kubectl-complaints.ts'
import { manifestComplaints, manifestsIn } from './support/kubernetes-manifests.ts'
import { checkedNames, strangeNames } from './support/kubernetes-names.ts'
import { type Block, blocksIn, blocksOf, readPage } from './support/page.ts'
import { shellCommands } from './support/shell-commands.ts'

const pages = [
  'docs/kubernetes/quickstart.md',
  'docs/kubernetes/images.md',
  'docs/kubernetes/charts.md',
  'docs/kubernetes/sidecar.md',
  'docs/kubernetes/exposing.md',
  'docs/kubernetes/scaling.md',
  'docs/kubernetes/identities.md',
  'docs/kubernetes/security.md',
  'docs/kubernetes/views.md',
  'docs/kubernetes/operations.md',
  'docs/kubernetes/plugin.md',
  'docs/kubernetes/alerts.md',
]

const complaintsAbout = (words: readonly string[]): string[] => {
  if (words[0] === 'kubectl') return kubectlComplaints(words)
  return words[0] === 'helm' ? helmComplaints(words) : []
}

/** What is published nowhere yet is named by commands that say so. */
const isRunnable = ({ language, marker = '' }: Block): boolean =>
  language === 'sh' && !marker.startsWith('not run: nothing is published')

for (const page of pages) {
  const blocks = blocksOf(page)

  test(`${page}: every manifest fits the schema of its kind`, () => {
    for (const { text } of blocks.filter(({ language }) => language === 'yaml')) {
      for (const manifest of manifestsIn(text)) assert.deepEqual(manifestComplaints(manifest), [])
    }
  })

  test(`${page}: commands name kinds, fields, charts and values that exist`, () => {
    for (const { text } of blocks.filter(isRunnable)) {
      for (const words of shellCommands(text)) {
        assert.deepEqual(complaintsAbout(words), [], words.join(' '))
      }
    }
  })

  test(`${page}: names in backticks exist, fields and columns among them`, () => {
    assert.deepEqual(strangeNames(readPage(page)), [])
  })
}

for (const name of readdirSync('charts/samples').filter((file) => file !== 'kind.yaml'))
  test(`the sample ${name} fits the schemas of its kinds, and its Views are accepted`, () => {
    const manifests = manifestsIn(readFileSync(`charts/samples/${name}`, 'utf8'))
    assert.ok(manifests.length > 0)
    for (const manifest of manifests) {
      assert.deepEqual(manifestComplaints(manifest), [])
      const { definition } = (manifest as { readonly spec?: Partial<ViewSpec> }).spec ?? {}
      if (definition === undefined) continue
      const { query, sdl } = definition
      const wire = encodeView({ query, sdl, lenses: [] })
      createViewCheck(networkOfQuery(query))({ sender: noSender, registeredAt: null, wire })
    }
  })

test('the pages have manifests, commands and names of each kind to check', () => {
  const blocks = pages.flatMap(blocksOf)
  const commands = blocks.filter(isRunnable).flatMap(({ text }) => shellCommands(text))
  const kinds = blocks
    .filter(({ language }) => language === 'yaml')
    .flatMap(({ text }) => manifestsIn(text).map(({ kind }) => kind))
  const first = (name: string): number => commands.filter(([word]) => word === name).length
  assert.ok(first('kubectl') > 20 && first('helm') > 5)
  for (const kind of ['Generator', 'Host', 'Ingress', 'HorizontalPodAutoscaler', undefined]) {
    assert.ok(kinds.includes(kind), `${kind}`)
  }
  const names = checkedNames(pages.map(readPage).join('\n'))
  assert.ok(names.length > 100)
})

test('a shell block is taken apart into commands and their words', () => {
  const block = [
    'kubectl get a -o yaml \\',
    "  | sed '/a b/d' > file   # kubectl is not run here",
    'until [ -z "$(kubectl get b -o jsonpath=\'{.c}\')" ]; do sleep 1; done',
    'kubectl patch x --patch "{\\"a\\": \\"$(openssl rand -base64 32)\\"}" y=<peer ID>',
  ].join('\n')
  assert.deepEqual(shellCommands(block), [
    ['kubectl', 'get', 'a', '-o', 'yaml'],
    ['sed', '/a b/d'],
    ['file'],
    ['until', '[', '-z', "$(kubectl get b -o jsonpath='{.c}')", ']'],
    ['do', 'sleep', '1'],
    ['done'],
    ['kubectl', 'patch', 'x', '--patch', '{"a": "$(openssl rand -base64 32)"}', 'y=<peer ID>'],
    ['kubectl', 'get', 'b', '-o', 'jsonpath={.c}'],
    ['openssl', 'rand', '-base64', '32'],
  ])
})

for (const [command, complaint] of [
  ['kubectl get hots', 'no kind hots'],
  ['kubectl watch hosts', 'no verb watch'],
  ['kubectl apply -f charts/samples/none.yaml', 'no file charts/samples/none.yaml'],
  ['kubectl explain host.spec.replica', 'Host has no field spec.replica'],
  [
    'kubectl wait --for=condition=PeersConnected generator/a',
    'Generator has no condition PeersConnected',
  ],
  [
    'kubectl annotate host a viewmesh.io/rollat=1',
    'nobody reads the annotation viewmesh.io/rollat',
  ],
  ['kubectl get secrets --selector viewmesh.io/hold=keyring', 'no label viewmesh.io/hold'],
  [
    'kubectl get hosts --field-selector spec.replicas=1',
    'Host has no selectable field .spec.replicas',
  ],
  ["kubectl get host a -o jsonpath='{.status.node}'", 'Host has no field status.node'],
  [
    "kubectl get host a -o jsonpath='{range .status.nodes[*]}{.peer}{end}'",
    'Host has no field status.nodes.[].peer',
  ],
  [
    "kubectl get host a -o jsonpath='{.status.nodes[?(@.number==2)].peerID}'",
    'Host has no field status.nodes.[].number',
  ],
  ['kubectl get --raw /api/v1/namespaces/a/pods/b:8080/proxy/healthz', 'no path /healthz'],
  ['kubectl get --raw /api/v1/namespaces/a/services/b:9180/proxy/health', 'no port 9180'],
  ['helm install a charts/none', 'no chart charts/none'],
  ['helm install a charts/operator --set crds.installed=false', '.crds.installed: unknown'],
  ['helm install a charts/host --set spec.replicas=two', '.spec.replicas: no integer'],
  ['helm install a charts/host --set spec.replicas=17', '.spec.replicas: 17 is out of range'],
  ['helm install a charts/host --set mode=alone', '.mode: not one of , operator, standalone'],
] as const) {
  test(`a wrong command is found: ${complaint}`, () => {
    assert.deepEqual(shellCommands(command).flatMap(complaintsAbout), [complaint])
  })
}

for (const [manifest, complaint] of [
  ['spec: {replica: 2}', '.spec.replica: unknown'],
  ['spec: {services: {p2p: {type: Balancer}}}', '.spec.services.p2p.type: not one of'],
  ['spec: {generators: [{}]}', '.spec.generators[0].name: missing'],
  [
    'spec: {podTemplate: {spec: {nodeSelectors: {}}}}',
    '.spec.podTemplate.spec.nodeSelectors: unknown',
  ],
  ['{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {rule: []}}', '.spec.rule: unknown'],
] as const) {
  test(`a wrong manifest is found: ${complaint}`, () => {
    const found = manifestsIn(manifest).flatMap(manifestComplaints)
    assert.equal(found.length, 1)
    assert.ok(found[0]?.startsWith(complaint), found[0])
  })
}

test('wrong names in backticks are found, and those in blocks are left to other checks', () => {
  const text =
    '`Stalled` `Stuck` `viewmesh.io/roll-at` `viewmesh.io/rollat` `spec.paused` `spec.pause` `STORE_FUL` `LAG` `LAGS`'
  assert.deepEqual(strangeNames(text), [
    'Stuck',
    'viewmesh.io/rollat',
    'spec.pause',
    'STORE_FUL',
    'LAGS',
  ])
  assert.deepEqual(strangeNames('```text\n`Stuck`\n```\n'), [])
  assert.equal(blocksIn('```text\n`Stuck`\n```\n').length, 1)
})
