/** Everything that is applied for a Host, but Secrets. */
import type { Host } from '../api.ts'
import type { ChildObject, ResourceObjects } from './child-object.ts'
import { hostConfigMap } from './config-map.ts'
import { publicHealthPort } from './container.ts'
import type { HostContext } from './context.ts'
import { disruptionBudget } from './disruption-budget.ts'
import { namesGenerators } from './names.ts'
import { hostNetworkPolicy } from './network-policy.ts'
import { hostPodTemplate } from './pod-template.ts'
import { serviceAccount } from './service-account.ts'
import { apiService, nodesService, p2pServices } from './services.ts'
import { statefulSet } from './stateful-set.ts'
import { hostTemplateInputs } from './template-inputs.ts'
import { chooseTemplate, type TemplateChoice } from './template-record.ts'

/** In the order in which they are applied; the StatefulSet comes last. */
export function hostObjects(host: Host, context: HostContext): ResourceObjects {
  const choice = chooseTemplate(
    { inputs: hostTemplateInputs(host, context), template: hostPodTemplate(host, context) },
    context.recorded,
    host.spec.rollout,
  )
  const { generateNetworkPolicy, generatePodDisruptionBudget } = context.defaults
  const newPort = publicHealthPort(choice.template.spec)
  const portOf = (ordinal: number): number => context.publicHealth.get(ordinal) ?? newPort
  const healthPorts = [newPort, ...context.publicHealth.values()]
  const objects: (ChildObject | null)[] = [
    serviceAccount(host),
    hostConfigMap(host, context),
    nodesService(host),
    apiService(host),
    ...p2pServices(host, portOf),
    generateNetworkPolicy ? hostNetworkPolicy(host, context, healthPorts) : null,
    generatePodDisruptionBudget ? disruptionBudget(host) : null,
    statefulSet(host, choice, {
      schemaSource: context.schemaSource,
      hasSignersFile: signersFileRecord(host, context, choice),
    }),
  ]
  return {
    objects: objects.filter((object) => object !== null),
    updateAvailable: choice.updateAvailable,
  }
}

/** A template of an older operator that waits for a change still has none. */
function signersFileRecord(
  host: Host,
  { recordedSignersFile }: HostContext,
  { updateAvailable }: TemplateChoice,
): boolean | null {
  const isWaiting = recordedSignersFile === null && updateAvailable
  return isWaiting && namesGenerators(host) ? null : namesGenerators(host)
}
