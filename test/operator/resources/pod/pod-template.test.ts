import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Colocation } from '../../../../operator/api/generator-spec.ts'
import type { PodTemplate } from '../../../../operator/api/pod-template.ts'
import type { GeneratorContext } from '../../../../operator/resources/pod/context.ts'
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

test('a Generator has an affinity only where it is to be near a node that is known', () => {
  const { service } = generator.spec.upstream
  assert.ok(service)
  const affinityOf = (colocate: Colocation, context: GeneratorContext): object | undefined => {
    const upstream = { ...generator.spec.upstream, service: { ...service, colocate } }
    const spec = { ...generator.spec, upstream }
    return generatorPodTemplate({ ...generator, spec }, context).spec?.affinity
  }
  const unknown = { ...generatorContext, executionNode: null }
  assert.ok(affinityOf('Preferred', generatorContext))
  assert.equal(affinityOf('None', generatorContext), undefined)
  assert.equal(affinityOf('Preferred', unknown), undefined)
})
