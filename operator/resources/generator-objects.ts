/** Everything that is applied for a Generator, but Secrets. */
import { ports } from '../../src/service/contract.ts'
import type { Generator } from '../api.ts'
import type { ChildObject, ResourceObjects } from './objects/child-object.ts'
import { generatorConfigMap } from './objects/config-map.ts'
import { generatorNetworkPolicy } from './objects/network-policy.ts'
import { serviceAccount } from './objects/service-account.ts'
import { apiService, nodesService, p2pServices, upstreamService } from './objects/services.ts'
import { statefulSet } from './objects/stateful-set.ts'
import type { GeneratorContext } from './pod/context.ts'
import { generatorPodTemplate } from './pod/pod-template.ts'
import { generatorTemplateInputs } from './pod/template-inputs.ts'
import { chooseTemplate } from './pod/template-record.ts'

/** In the order in which they are applied; the StatefulSet comes last. */
export function generatorObjects(generator: Generator, context: GeneratorContext): ResourceObjects {
  const choice = chooseTemplate(
    {
      inputs: generatorTemplateInputs(generator, context),
      template: generatorPodTemplate(generator, context),
    },
    context.recorded,
    generator.spec.rollout,
  )
  const objects: (ChildObject | null)[] = [
    serviceAccount(generator),
    generatorConfigMap(generator, context),
    nodesService(generator),
    apiService(generator),
    ...p2pServices(generator, () => ports.health),
    upstreamService(generator),
    context.defaults.generateNetworkPolicy ? generatorNetworkPolicy(generator, context) : null,
    statefulSet(generator, choice, {
      executionNode: context.executionNode,
      schemaKeysRenewed: context.schemaKeysRenewed ?? null,
    }),
  ]
  return {
    objects: objects.filter((object) => object !== null),
    updateAvailable: choice.updateAvailable,
  }
}
