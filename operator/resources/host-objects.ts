/** Everything that is applied for a Host, but Secrets. */
import type { Host } from '../api.ts'
import { namesGenerators } from './names/names.ts'
import type { ChildObject, ResourceObjects } from './objects/child-object.ts'
import { hostConfigMap } from './objects/config-map.ts'
import { disruptionBudget } from './objects/disruption-budget.ts'
import { hostNetworkPolicy } from './objects/network-policy.ts'
import { serviceAccount } from './objects/service-account.ts'
import { apiService, nodesService, p2pServices } from './objects/services.ts'
import { statefulSet } from './objects/stateful-set.ts'
import { hostViewMaps } from './objects/view-config-maps.ts'
import { publicHealthPort } from './pod/container.ts'
import type { HostContext } from './pod/context.ts'
import { hostPodTemplate } from './pod/pod-template.ts'
import { hostTemplateInputs } from './pod/template-inputs.ts'
import { chooseTemplate, type TemplateChoice } from './pod/template-record.ts'

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
    ...hostViewMaps(host, context.views),
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
  const isWaiting = recordedSignersFile === null && updateAvailable !== null
  return isWaiting && namesGenerators(host) ? null : namesGenerators(host)
}
