/**
 * The part of `spec.podTemplate` that is read. Everything Kubernetes knows may be in a pod
 * template; what is declared here is what rules have to see, because the operator decides it.
 */
import type { OpenObject, Port } from './scalars.ts'

/**
 * A pod template to merge.
 * @preserveUnknown
 */
export interface PodTemplate {
  /** Labels and annotations of the pods, in addition to the operator's. */
  readonly metadata?: PodTemplateMetadata
  /** Fields of the pods, in addition to the operator's or in place of them. */
  readonly spec?: PodTemplatePodSpec
}

/**
 * Labels and annotations of the pods.
 * @rule !has(self.labels) || !['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'apps.kubernetes.io/pod-index'].exists(l, l in self.labels)
 * @message labels app.kubernetes.io/name, app.kubernetes.io/instance and apps.kubernetes.io/pod-index belong to the operator, which finds the pods by them: use other labels
 * @fieldPath .labels
 * @rule !has(self.annotations) || !('viewmesh.io/roll-at' in self.annotations)
 * @message viewmesh.io/roll-at belongs on the resource itself: kubectl annotate it there
 * @fieldPath .annotations
 */
interface PodTemplateMetadata {
  /**
   * Labels.
   * @maxProperties 64
   */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * Annotations.
   * @maxProperties 64
   */
  readonly annotations?: Readonly<Record<string, string>>
}

/**
 * Fields of the pods.
 * @preserveUnknown
 * @rule !has(self.restartPolicy)
 * @message restartPolicy is always Always in a StatefulSet: leave it out
 * @fieldPath .restartPolicy
 * @rule !has(self.hostname) && !has(self.subdomain)
 * @message hostname and subdomain are the StatefulSet's, peers find pods by them: leave them out
 * @rule !(has(self.hostPID) && self.hostPID) && !(has(self.hostIPC) && self.hostIPC) && !(has(self.shareProcessNamespace) && self.shareProcessNamespace)
 * @message hostPID, hostIPC and shareProcessNamespace would show the keyring to other processes: leave them out
 * @rule !has(self.terminationGracePeriodSeconds) || self.terminationGracePeriodSeconds >= 45
 * @message terminationGracePeriodSeconds must be 45 or more: stopping takes up to 30 seconds
 * @fieldPath .terminationGracePeriodSeconds
 * @rule !has(self.securityContext) || !(has(self.securityContext.runAsUser) || has(self.securityContext.runAsGroup) || has(self.securityContext.fsGroup) || has(self.securityContext.runAsNonRoot))
 * @message securityContext.runAsUser, runAsGroup, fsGroup and runAsNonRoot are fixed to 1001, the owner of keys and data: leave them out
 * @fieldPath .securityContext
 * @rule !has(self.volumes) || !self.volumes.exists(v, v.name in ['keys', 'data', 'keyring', 'config', 'tmp', 'secrets', 'viewmesh-views'])
 * @message volumes keys, data, keyring, config, tmp, secrets and viewmesh-views belong to the operator: choose other names
 * @fieldPath .volumes
 */
interface PodTemplatePodSpec {
  /** The pods use the node's network: one pod a node, with the ports 8080, 9171, 9181, 9182 and 9183 of the node. */
  readonly hostNetwork?: boolean
  /** Not accepted: it would show the keyring to other processes. */
  readonly hostPID?: boolean
  /** Not accepted: it would show the keyring to other processes. */
  readonly hostIPC?: boolean
  /** Not accepted: it would show the keyring to other processes. */
  readonly shareProcessNamespace?: boolean
  /** Not accepted: it is always Always in a StatefulSet. */
  readonly restartPolicy?: string
  /** Not accepted: it is the StatefulSet's. */
  readonly hostname?: string
  /** Not accepted: it is the StatefulSet's. */
  readonly subdomain?: string
  /** Seconds between SIGTERM and SIGKILL; 45 or more. */
  readonly terminationGracePeriodSeconds?: number
  /** Security context of the pods; user and groups are fixed to 1001. */
  readonly securityContext?: PodTemplateSecurityContext
  /**
   * The program's container (generator or host) to change, and more containers beside it.
   * @listMapKey name
   * @maxItems 16
   */
  readonly containers?: readonly PodTemplateContainer[]
  /**
   * Containers that run before the program starts.
   * @listMapKey name
   * @maxItems 16
   */
  readonly initContainers?: readonly PodTemplateInitContainer[]
  /**
   * More volumes.
   * @listMapKey name
   * @maxItems 64
   */
  readonly volumes?: readonly PodTemplateVolume[]
}

/**
 * Security context of the pods.
 * @preserveUnknown
 */
interface PodTemplateSecurityContext {
  /** Not accepted: it is 1001. */
  readonly runAsUser?: number
  /** Not accepted: it is 1001. */
  readonly runAsGroup?: number
  /** Not accepted: it is 1001. */
  readonly fsGroup?: number
  /** Not accepted: it is true. */
  readonly runAsNonRoot?: boolean
}

/**
 * A container of the pods.
 * @preserveUnknown
 * @rule !(self.name in ['generator', 'host']) || !has(self.image)
 * @message the image of the program is spec.image: set it there
 * @fieldPath .image
 * @rule self.name in ['generator', 'host'] || has(self.image)
 * @message a container beside the program needs an image; the container of the program itself is named generator or host
 * @rule !(self.name in ['generator', 'host']) || !(has(self.command) || has(self.args))
 * @message command and args of the program belong to its image: leave them out, settings are environment variables
 * @rule !(self.name in ['generator', 'host']) || !has(self.ports)
 * @message the ports of the program are fixed (8080, 9171, 9181, 9182, 9183): leave ports out
 * @fieldPath .ports
 * @rule !(self.name in ['generator', 'host']) || !(has(self.startupProbe) || has(self.livenessProbe) || has(self.readinessProbe))
 * @message the probes of the program are fixed, so that a program that catches up is not killed: leave them out
 * @rule !(self.name in ['generator', 'host']) || !has(self.securityContext)
 * @message the security context of the program is fixed to the restricted level: leave it out
 * @fieldPath .securityContext
 * @rule !(self.name in ['generator', 'host']) || !has(self.env) || !self.env.exists(e, e.name in ['POD_INDEX', 'CHAIN_NAME', 'CHAIN_NETWORK', 'CHAIN_ID', 'DB_KEY_PATH', 'DB_STORE_PATH', 'DB_KEYRING_SECRET', 'DB_KEYRING_SECRET_FILE', 'DB_API_ADDR', 'DB_P2P_LISTEN_ADDR', 'HEALTH_ADDR', 'HEALTH_PUBLIC_ADDR', 'BOOTSTRAP_PEERS_FILE', 'P2P_ANNOUNCE_FILE', 'PRUNER_ENABLED', 'PRUNER_MAX_BLOCKS', 'NODE_RPC_URL', 'NODE_WS_URL', 'NODE_API_KEY', 'NODE_API_KEY_FILE', 'NODE_API_KEY_TYPE', 'GENERATOR_START_HEIGHT', 'SCHEMA_AUTH_MODE', 'SCHEMA_API_KEYS', 'SCHEMA_API_KEYS_FILE', 'GENERATOR_SCHEMA_URL', 'GENERATOR_SCHEMA_AUTH_TOKEN', 'GENERATOR_SCHEMA_AUTH_TOKEN_FILE', 'REGISTRY_RPC_URL', 'REGISTRY_LCD_URL', 'HOST_ADMIN_TOKEN', 'HOST_ADMIN_TOKEN_FILE', 'HOST_TRUSTED_SIGNERS', 'HOST_TRUSTED_SIGNERS_FILE', 'HOST_SIBLINGS_FILE', 'HOST_READY_MIN_BLOCKS', 'HOST_READY_MAX_LAG', 'HOST_VIEWS_DIR'])
 * @message the operator sets this variable itself: use the field of the spec that stands for it (kubectl explain generator.spec, kubectl explain host.spec)
 * @fieldPath .env
 * @rule !(self.name in ['generator', 'host']) || !has(self.envFrom)
 * @message envFrom of the program could set variables that the operator decides: name each variable in env, with valueFrom
 * @fieldPath .envFrom
 * @rule !(self.name in ['generator', 'host']) || !has(self.volumeMounts) || !self.volumeMounts.exists(m, m.mountPath.matches('^/(app|etc/viewmesh|run/viewmesh|tmp)(/|$)'))
 * @message /app, /etc/viewmesh, /run/viewmesh and /tmp of the program belong to the operator: mount elsewhere
 * @fieldPath .volumeMounts
 * @rule self.name in ['generator', 'host'] || !has(self.volumeMounts) || !self.volumeMounts.exists(m, has(m.name) && m.name in ['keyring', 'secrets'])
 * @message no other container may mount the volumes keyring and secrets: leave them out
 * @fieldPath .volumeMounts
 * @rule self.name in ['generator', 'host'] || !has(self.ports) || !self.ports.exists(p, p.containerPort in [8080, 9171, 9181, 9182, 9183])
 * @message the ports 8080, 9171, 9181, 9182 and 9183 of the pod belong to the program: let the other container listen elsewhere
 * @fieldPath .ports
 */
interface PodTemplateContainer {
  /**
   * Name; generator or host is the program's own container.
   * @minLength 1
   * @maxLength 63
   */
  readonly name: string
  /** Image of a container beside the program. */
  readonly image?: string
  /** Command of a container beside the program. */
  readonly command?: readonly string[]
  /** Arguments of a container beside the program. */
  readonly args?: readonly string[]
  /** Startup probe of a container beside the program. */
  readonly startupProbe?: OpenObject
  /** Liveness probe of a container beside the program. */
  readonly livenessProbe?: OpenObject
  /** Readiness probe of a container beside the program. */
  readonly readinessProbe?: OpenObject
  /** Security context of a container beside the program. */
  readonly securityContext?: OpenObject
  /**
   * Ports of a container beside the program.
   * @maxItems 32
   */
  readonly ports?: readonly PodTemplatePort[]
  /**
   * More environment variables, such as LOG_LEVEL or GRAPHQL_MAX_ROWS.
   * @listMapKey name
   * @maxItems 128
   */
  readonly env?: readonly PodTemplateVariable[]
  /** Environment variables of a container beside the program, all those of a ConfigMap or Secret. */
  readonly envFrom?: readonly OpenObject[]
  /**
   * More mounts.
   * @listMapKey mountPath
   * @maxItems 32
   */
  readonly volumeMounts?: readonly PodTemplateMount[]
}

/**
 * A container that runs before the program starts.
 * @preserveUnknown
 * @rule !has(self.volumeMounts) || !self.volumeMounts.exists(m, has(m.name) && m.name in ['keyring', 'secrets'])
 * @message no other container may mount the volumes keyring and secrets: leave them out
 * @fieldPath .volumeMounts
 * @rule !has(self.ports) || !self.ports.exists(p, p.containerPort in [8080, 9171, 9181, 9182, 9183])
 * @message the ports 8080, 9171, 9181, 9182 and 9183 of the pod belong to the program: let the other container listen elsewhere
 * @fieldPath .ports
 */
interface PodTemplateInitContainer {
  /**
   * Name.
   * @minLength 1
   * @maxLength 63
   */
  readonly name: string
  /**
   * Ports, where it keeps running beside the program (restartPolicy: Always).
   * @maxItems 32
   */
  readonly ports?: readonly PodTemplatePort[]
  /**
   * Mounts.
   * @listMapKey mountPath
   * @maxItems 32
   */
  readonly volumeMounts?: readonly PodTemplateMount[]
}

/**
 * A port of a container.
 * @preserveUnknown
 */
interface PodTemplatePort {
  /** Port in the pod. */
  readonly containerPort: Port
}

/**
 * An environment variable.
 * @preserveUnknown
 */
interface PodTemplateVariable {
  /**
   * Name of the variable.
   * @minLength 1
   * @maxLength 256
   */
  readonly name: string
}

/**
 * A mount of a volume.
 * @preserveUnknown
 */
interface PodTemplateMount {
  /**
   * Name of the volume.
   * @maxLength 63
   */
  readonly name?: string
  /**
   * Where the volume appears in the container.
   * @minLength 1
   * @maxLength 512
   */
  readonly mountPath: string
}

/**
 * A volume.
 * @preserveUnknown
 */
interface PodTemplateVolume {
  /**
   * Name of the volume.
   * @minLength 1
   * @maxLength 63
   */
  readonly name: string
}
