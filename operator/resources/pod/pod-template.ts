/** The pod template of a resource: ours, with the user's `podTemplate` merged over it. */
import type { V1PodSpec, V1PodTemplateSpec } from '@kubernetes/client-node'
import { stopTimeoutMs } from '../../../src/service/contract.ts'
import { records, requests } from '../../api/annotations.ts'
import type { Generator, Host, Workload } from '../../api.ts'
import { mergeStrategically } from '../drift/strategic-merge.ts'
import { selectorLabels } from '../names/metadata.ts'
import { childNames, programOf } from '../names/names.ts'
import { generatorAffinity, hostSpread } from './affinity.ts'
import { programContainer } from './container.ts'
import type { GeneratorContext, HostContext } from './context.ts'
import { generatorEnvironment, hostEnvironment } from './environment.ts'
import { imageOf } from './image.ts'
import { podSecurity } from './pod-security.ts'
import {
  generatorSecretFiles,
  hostSecretFiles,
  mountsOf,
  type SecretFile,
  volumesOf,
} from './volumes.ts'

/** The pod template this operator would give a Generator. */
export function generatorPodTemplate(
  generator: Generator,
  context: GeneratorContext,
): V1PodTemplateSpec {
  const affinity = generatorAffinity(generator, context.executionNode)
  const { generatorPriorityClass: priorityClassName } = context.defaults
  const renewed = context.schemaKeysRenewed ?? null
  return podTemplate(generator, {
    pullSecrets: context.defaults.imagePullSecrets,
    image: imageOf(generator.spec.image, context.defaults.images.generator),
    env: generatorEnvironment(generator, context),
    files: generatorSecretFiles(generator),
    annotations: renewed === null ? {} : { [records.schemaKeysRenewed]: renewed },
    placement: {
      ...(affinity === undefined ? {} : { affinity }),
      ...(priorityClassName === null ? {} : { priorityClassName }),
    },
  })
}

/** The pod template this operator would give a Host. */
export function hostPodTemplate(host: Host, context: HostContext): V1PodTemplateSpec {
  return podTemplate(host, {
    pullSecrets: context.defaults.imagePullSecrets,
    image: imageOf(host.spec.image, context.defaults.images.host),
    env: hostEnvironment(host, context),
    files: hostSecretFiles(host, context),
    annotations: {},
    placement: { topologySpreadConstraints: hostSpread(host) },
  })
}

interface TemplateParts {
  readonly pullSecrets: readonly string[]
  readonly image: string
  readonly env: ReturnType<typeof hostEnvironment>
  readonly files: readonly SecretFile[]
  readonly annotations: Readonly<Record<string, string>>
  readonly placement: Partial<V1PodSpec>
}

function podTemplate(resource: Workload, parts: TemplateParts): V1PodTemplateSpec {
  const { pullSecrets, image, env, files, placement } = parts
  const program = programOf(resource)
  const container = programContainer({
    program,
    image,
    pullPolicy: resource.spec.image.pullPolicy,
    env,
    mounts: mountsOf(resource, files),
  })
  const ours: V1PodTemplateSpec = {
    metadata: {
      labels: selectorLabels(resource),
      annotations: { ...templateAnnotations(resource), ...parts.annotations },
    },
    spec: {
      ...podDefaults,
      serviceAccountName: childNames(resource).base,
      ...(pullSecrets.length === 0
        ? {}
        : { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
      ...placement,
      containers: [container],
      volumes: volumesOf(resource, files),
    },
  }
  return withClusterNames(mergeStrategically(ours, resource.spec.podTemplate ?? {}))
}

/** What every pod has: no token, no rights, user 1001, whose group owns the volumes. */
const podDefaults: Readonly<Omit<V1PodSpec, 'containers'>> = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: (2 * stopTimeoutMs) / 1_000,
  securityContext: podSecurity,
}

function templateAnnotations(resource: Workload): Record<string, string> {
  const rollAt = resource.metadata.annotations?.[requests.rollAt]
  return {
    'kubectl.kubernetes.io/default-container': programOf(resource),
    ...(rollAt === undefined ? {} : { [requests.rollAt]: rollAt }),
  }
}

/** With the network of its node a pod asks the name servers of the node by default. */
function withClusterNames(template: V1PodTemplateSpec): V1PodTemplateSpec {
  const { spec } = template
  if (spec?.hostNetwork !== true || spec.dnsPolicy !== undefined) return template
  return { ...template, spec: { ...spec, dnsPolicy: 'ClusterFirstWithHostNet' } }
}
