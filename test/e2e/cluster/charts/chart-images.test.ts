import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVersion } from '../../../../src/service/version.ts'
import { type RenderedObject, renderChart } from '../support/helm.ts'

const release = { name: 'mainnet', namespace: 'apps' }
const mirror = { imageRegistry: 'mirror.example.org/viewmesh' }
const digest = `sha256:${'a'.repeat(64)}`
const version = readVersion()

async function hostChart(values: object): Promise<RenderedObject[]> {
  return await renderChart('host', release, { mode: 'operator', ...values })
}

const specOf = (objects: readonly RenderedObject[]): unknown =>
  objects.find(({ kind }) => kind === 'Host')?.['spec']

/** Image of the pod of `helm test`; undefined where there is no such pod. */
function testedImage(objects: readonly RenderedObject[]): string | undefined {
  const pod = objects.find(({ kind }) => kind === 'Pod')
  const spec = pod?.['spec'] as { readonly containers: readonly { readonly image: string }[] }
  return spec?.containers[0]?.image
}

test('without a registry the operator chooses the image, and helm test has nothing to run', async () => {
  const objects = await hostChart({ spec: { replicas: 2 } })
  assert.deepEqual(specOf(objects), { replicas: 2 })
  assert.equal(testedImage(objects), undefined)
})

const name = 'mirror.example.org/viewmesh/viewmesh-host'
const cases = [
  ['alone', {}, { repository: name, tag: version }, `${name}:${version}`],
  ['with a tag', { tag: 'next' }, { repository: name, tag: 'next' }, `${name}:next`],
  ['with a digest', { digest }, { repository: name, digest }, `${name}@${digest}`],
  [
    'with a whole image',
    { repository: 'example.org/other', tag: '1' },
    { repository: 'example.org/other', tag: '1' },
    'example.org/other:1',
  ],
] as const

for (const [what, image, wanted, tested] of cases) {
  test(`a registry ${what}: the resource names the image that helm test runs`, async () => {
    const objects = await hostChart({ global: mirror, spec: { image } })
    assert.deepEqual(specOf(objects), { image: wanted })
    assert.equal(testedImage(objects), tested)
  })
}
