/** The spec of a Generator, field by field. */
import type { CommonSpec, DataVolume, SecretKeyReference, Storage } from './common-spec.ts'
import type {
  HttpUrl,
  LabelName,
  LoadBalancerClass,
  NodeAddress,
  Port,
  Size,
  WebSocketUrl,
} from './scalars.ts'

/**
 * Where blocks are read from.
 * @rule [has(self.url), has(self.service), has(self.podSelector)].exists_one(given, given)
 * @message give exactly one of url, service and podSelector, such as service: {name: geth}
 */
export interface Upstream {
  /** An execution node by its addresses, inside the cluster or outside. */
  readonly url?: UpstreamUrl
  /** An execution node behind a Service. */
  readonly service?: UpstreamService
  /** An execution node in the pods with these labels, in this namespace. A Service is made for them. */
  readonly podSelector?: UpstreamPodSelector
  /** The API key of the execution node, where it wants one. */
  readonly auth?: UpstreamAuth
}

/** An execution node by its addresses. */
interface UpstreamUrl {
  /**
   * JSON-RPC addresses; the next one is used while one does not respond.
   * @minItems 1
   * @maxItems 8
   * @listType atomic
   */
  readonly http: readonly HttpUrl[]
  /** WebSocket address for new blocks; without it they are polled for over HTTP. */
  readonly ws?: WebSocketUrl
}

/** How near to the execution node the Generator runs. */
export type Colocation = 'Preferred' | 'Required' | 'None'

/** An execution node behind a Service. */
interface UpstreamService {
  /** Name of the Service. */
  readonly name: LabelName
  /**
   * Its namespace; left out it is this one. A Generator is kept near an execution node of another namespace only
   * where this Service names the Generator's namespace in its annotation viewmesh.io/allowed-namespaces.
   */
  readonly namespace?: LabelName
  /**
   * Port of the Service for JSON-RPC over HTTP.
   * @default 8545
   */
  readonly httpPort: Port
  /** Port of the Service for WebSocket; left out, new blocks are polled for over HTTP. */
  readonly wsPort?: Port
  /**
   * Whether the Generator runs on the machine of the pods behind the Service: Preferred where it fits,
   * Required or not at all, None anywhere.
   * @default "Preferred"
   */
  readonly colocate: Colocation
}

/** An execution node in pods with certain labels. */
interface UpstreamPodSelector {
  /**
   * Labels of the execution node's pods.
   * @minProperties 1
   * @maxProperties 16
   */
  readonly matchLabels: Readonly<Record<string, string>>
  /**
   * Port of the pods for JSON-RPC over HTTP.
   * @default 8545
   */
  readonly httpPort: Port
  /** Port of the pods for WebSocket; left out, new blocks are polled for over HTTP. */
  readonly wsPort?: Port
  /**
   * Whether the Generator runs on the machine of these pods: Preferred where it fits, Required or not
   * at all, None anywhere.
   * @default "Preferred"
   */
  readonly colocate: Colocation
}

/** The API key of the execution node. */
interface UpstreamAuth {
  /** The key of a Secret that holds the API key; it is sent as it is, so write "Bearer ..." where wanted. */
  readonly secretRef: SecretKeyReference
  /**
   * HTTP header that carries the API key.
   * @default "Authorization"
   * @maxLength 128
   * @rule self.matches('^[A-Za-z0-9!#$%&\'*+.^_`|~-]+$')
   * @message must be the name of an HTTP header, such as X-Api-Key
   */
  readonly header: string
}

/**
 * Where an empty store starts. A store with blocks continues after them.
 * @rule has(self.height) != has(self.behindHead)
 * @message give exactly one of height and behindHead, or leave start out to begin at the newest block
 */
export interface Start {
  /**
   * The first block.
   * @minimum 0
   * @maximum 999999999999999
   */
  readonly height?: number
  /**
   * This many blocks behind the newest one.
   * @minimum 0
   * @maximum 999999999999999
   */
  readonly behindHead?: number
}

/** Who may read the schema that the Generator serves on port 8080. */
interface SchemaAuth {
  /**
   * Namespaces whose Hosts are handed a key to the schema, besides those of this namespace.
   * @maxItems 32
   * @listType set
   */
  readonly allowedNamespaces?: readonly LabelName[]
  /**
   * Keys of your own instead of a generated one: one Secret key, with commas between several, of which Hosts are
   * handed the first. Where the Secret with the generated one is deleted, another is made and the pod replaced to
   * take it; the one before is accepted for an hour more.
   */
  readonly keysSecretRef?: SecretKeyReference
}

/** The volume with a Generator's store. */
interface GeneratorDataVolume extends DataVolume {
  /**
   * Size. It can grow where the class allows, and shrinks to no less than the volumes have. A store
   * takes roughly 150 MB for every 1,000 blocks of 200 transactions and 500 logs, as mainnet has them, so
   * 10Gi are plenty with the default of pruning; without pruning a day of mainnet adds 1 GB, and the
   * default is not accepted.
   * @default "300Gi"
   */
  readonly size: Size
}

/** The volumes of a Generator. */
interface GeneratorStorage extends Storage {
  /**
   * The volume with the store. What is on it can be read again from the chain; keys are not on it.
   * @default {}
   */
  readonly data: GeneratorDataVolume
}

/**
 * The Service that shows the Generator's peer-to-peer port (9171) outside the cluster.
 * @rule !has(self.nodePort) || self.type == 'NodePort'
 * @message nodePort needs type NodePort: set it, or leave nodePort out
 * @fieldPath .nodePort
 * @rule !has(self.loadBalancerClass) || self.type == 'LoadBalancer'
 * @message loadBalancerClass needs type LoadBalancer: set it, or leave loadBalancerClass out
 * @fieldPath .loadBalancerClass
 */
interface GeneratorP2pService {
  /**
   * Kind of the Service. None makes no Service: peers in the cluster reach the pod without one.
   * @default "None"
   */
  readonly type: 'None' | 'ClusterIP' | 'NodePort' | 'LoadBalancer'
  /**
   * Annotations of the Service, as load balancers read them.
   * @maxProperties 64
   */
  readonly annotations?: Readonly<Record<string, string>>
  /**
   * Who makes the load balancer, with type LoadBalancer; left out, the cluster's own does. Kubernetes
   * lets nobody change it while the Service is there: leave type and class out once, then set both.
   */
  readonly loadBalancerClass?: LoadBalancerClass
  /** The port of the nodes, with type NodePort; left out, the cluster chooses one. */
  readonly nodePort?: Port
}

/** How peers reach the Generator. */
interface GeneratorP2p {
  /**
   * The Service that shows the peer-to-peer port (9171) outside the cluster.
   * @default {}
   */
  readonly service: GeneratorP2pService
  /**
   * Addresses published to peers, where the operator cannot know them: behind a NAT, with a NodePort, with a
   * name of your own. Those of a load balancer are discovered.
   * @maxItems 16
   * @listType set
   */
  readonly announce?: readonly NodeAddress[]
}

/**
 * What a Generator should be: exactly one pod that reads an execution node, signs and sends out blocks.
 * @rule self.pruning.enabled || self.storage.data.size != '300Gi'
 * @message without pruning a store never stops growing, so the default of 300Gi is not taken: set storage.data.size to what the blocks need, roughly 150 MB for every 1,000 blocks of 200 transactions, or leave pruning enabled
 * @fieldPath .storage.data.size
 * @rule !has(self.podTemplate) || !has(self.podTemplate.spec) || !has(self.podTemplate.spec.containers) || !self.podTemplate.spec.containers.exists(c, c.name == 'host')
 * @message the container of a Generator's program is named generator, and host is that of a Host: give the container another name
 * @fieldPath .podTemplate.spec.containers
 */
export interface GeneratorSpec extends CommonSpec {
  /** The execution node that blocks are read from: exactly one of url, service and podSelector. */
  readonly upstream: Upstream
  /**
   * Where an empty store starts; left out, at the newest block. A store with blocks continues after them, and
   * StartIgnored says so where this is changed then.
   */
  readonly start?: Start
  /**
   * Who may read the schema that the Generator serves on port 8080.
   * @default {}
   */
  readonly schemaAuth: SchemaAuth
  /**
   * The volumes: one for keys, one for blocks, so that blocks can be thrown away without the keys.
   * @default {}
   */
  readonly storage: GeneratorStorage
  /**
   * How peers reach the Generator.
   * @default {}
   */
  readonly p2p: GeneratorP2p
}
