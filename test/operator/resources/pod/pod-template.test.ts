import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodTemplate } from '../../../../operator/api/pod-template.ts'
import { generatorPodTemplate } from '../../../../operator/resources/pod/pod-template.ts'
import { generatorContext, readGenerator } from '../../../support/resources/operator-cases.ts'

const generator = readGenerator('generator-minimal')

test('a pod in the network of its node asks the name servers of the cluster, unless told whom', () => {
  const policyOf = (pod: object): string | undefined => {
    const spec = { ...generator.spec, podTemplate: { spec: pod } as PodTemplate }
    return generatorPodTemplate({ ...generator, spec }, generatorContext).spec?.dnsPolicy
  }
  assert.equal(policyOf({ hostNetwork: true }), 'ClusterFirstWithHostNet')
  assert.equal(policyOf({ hostNetwork: true, dnsPolicy: 'Default' }), 'Default')
  assert.deepEqual([policyOf({ hostNetwork: false }), policyOf({})], [undefined, undefined])
})
