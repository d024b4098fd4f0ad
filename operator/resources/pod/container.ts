/** The program's container: ports, probes, resources, restricted security. */
import type {
  V1Container,
  V1ContainerPort,
  V1EnvVar,
  V1PodSpec,
  V1Probe,
  V1ResourceRequirements,
  V1VolumeMount,
} from '@kubernetes/client-node'
import { type ProgramName, ports, probes } from '../../../src/service/contract.ts'
import { containerSecurity } from './pod-security.ts'

interface ContainerParts {
  readonly program: ProgramName
  readonly image: string
  readonly pullPolicy: string
  readonly env: V1EnvVar[]
  readonly mounts: V1VolumeMount[]
}

/** Requests are small, so that a node beside it keeps its share; `podTemplate` changes them. */
const resources: Readonly<Record<ProgramName, V1ResourceRequirements>> = {
  generator: { requests: { cpu: '100m', memory: '384Mi' }, limits: { memory: '2Gi' } },
  host: { requests: { cpu: '200m', memory: '512Mi' }, limits: { memory: '4Gi' } },
}

/**
 * Command and arguments are those of the image. Kubernetes keeps the end of the log of a program that
 * fails, which says why (`termination-message.ts`).
 */
export function programContainer(parts: ContainerParts): V1Container {
  const { program, image, pullPolicy, env, mounts } = parts
  return {
    name: program,
    image,
    imagePullPolicy: pullPolicy,
    ports: containerPorts(program),
    env,
    resources: resources[program],
    volumeMounts: mounts,
    ...containerProbes(program),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: containerSecurity,
  }
}

/**
 * The port accepts from the first moment, and of a process that hangs until the kernel has queued 512 connections, which
 * takes these probes half an hour. A node that catches up is unready, and never killed for it.
 */
function containerProbes(
  program: ProgramName,
): Readonly<Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', V1Probe>> {
  return {
    startupProbe: {
      tcpSocket: { port: probes.startup.tcpPort },
      periodSeconds: 2,
      timeoutSeconds: 2,
      failureThreshold: 90,
    },
    livenessProbe: {
      tcpSocket: { port: probes.liveness.tcpPort },
      periodSeconds: 20,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    readinessProbe: {
      httpGet: { path: probes.readiness.path[program], port: probes.readiness.httpPort },
      periodSeconds: 5,
      timeoutSeconds: 3,
      failureThreshold: 3,
    },
  }
}

function containerPorts(program: ProgramName): V1ContainerPort[] {
  const both = [
    { name: 'api', containerPort: ports.api },
    { name: 'p2p', containerPort: ports.p2p },
    { name: 'health', containerPort: ports.health },
  ]
  return program === 'host'
    ? [
        ...both,
        { name: 'playground', containerPort: ports.playground },
        { name: publicHealthName, containerPort: ports.publicHealth },
      ]
    : both
}

const publicHealthName = 'public-health'

/**
 * The port of a pod, as its own spec or a template has it, that answers /health to everybody. Pods that an older
 * operator made have none for health alone, and keep the one they had.
 */
export function publicHealthPort(spec: V1PodSpec | undefined): number {
  const all = spec?.containers.flatMap((container) => container.ports ?? []) ?? []
  const alone = all.find(({ name }) => name === publicHealthName)
  return alone?.containerPort ?? ports.health
}
