/** Everything that is applied for a Generator, but Secrets. */
import { ports } from '../../src/service/contract.ts'
import type { Generator } from '../api.ts'
import type { ChildObject, ResourceObjects } from './child-object.ts'
import { generatorConfigMap } from './config-map.ts'
import type { GeneratorContext } from './context.ts'
import { generatorNetworkPolicy } from './network-policy.ts'
import { generatorPodTemplate } from './pod-template.ts'
import { serviceAccount } from './service-account.ts'
import { apiService, nodesService, p2pServices, upstreamService } from './services.ts'
import { statefulSet } from './stateful-set.ts'
import { generatorTemplateInputs } from './template-inputs.ts'
import { chooseTemplate } from './template-record.ts'

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
