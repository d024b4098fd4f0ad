import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { repository } from '../support/repository.ts'

const read = (path: string): string => readFileSync(`${repository}/${path}`, 'utf8')
const charts = ['operator', 'generator', 'host', 'library']

test('every chart has the version of the programs', () => {
  const { version } = JSON.parse(read('package.json'))
  for (const chart of charts) {
    const { version: own, appVersion, name } = parse(read(`charts/${chart}/Chart.yaml`))
    assert.deepEqual([name, own, appVersion], [chart, version, version])
  }
})

test('the volume of a sidecar is as large as pages say a pruning Generator needs', () => {
  const claims = parseAllDocuments(read('charts/sidecar/claims.yaml')).map((one) => one.toJS())
  const [, needed] =
    /(\d+Gi) of data are plenty with the default pruning/.exec(
      read('docs/kubernetes/quickstart.md'),
    ) ?? []
  assert.ok(needed)
  assert.deepEqual(
    claims.map(({ metadata, spec }) => [metadata.name, spec.resources.requests.storage]),
    [
      ['viewmesh-generator-keys', '1Gi'],
      ['viewmesh-generator-data', needed],
    ],
  )
})

test('the operator’s chart has exactly the CRDs', () => {
  const folder = 'charts/operator/files/crds'
  assert.deepEqual(readdirSync(`${repository}/${folder}`), readdirSync(`${repository}/crds`))
  for (const name of readdirSync(`${repository}/crds`)) {
    assert.equal(read(`${folder}/${name}`), read(`crds/${name}`))
  }
})

test('catalogues of charts get the definitions as they are, with an example of each', () => {
  const { annotations } = parse(read('charts/operator/Chart.yaml'))
  const listed: readonly { kind: string; version: string; name: string }[] = parse(
    annotations['artifacthub.io/crds'],
  )
  const definitions = readdirSync(`${repository}/crds`).map((file) => parse(read(`crds/${file}`)))
  assert.deepEqual(
    listed.map(({ kind, version, name }) => [kind, version, name]),
    definitions.map(({ metadata, spec }) => [
      spec.names.kind,
      spec.versions[0].name,
      metadata.name,
    ]),
  )
  const examples: readonly { apiVersion: string; kind: string }[] = parse(
    annotations['artifacthub.io/crdsExamples'],
  )
  assert.deepEqual(
    examples.map(({ apiVersion, kind }) => [kind, apiVersion]),
    listed.map(({ kind, version }) => [kind, `viewmesh.io/${version}`]),
  )
})
