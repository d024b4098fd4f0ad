/** The spec of a Host, field by field. */
import type {
  CommonSpec,
  DataVolume,
  GeneratorReference,
  SecretKeyReference,
  Storage,
} from './common-spec.ts'
import type {
  HttpUrl,
  LoadBalancerClass,
  PeerAddress,
  ReplicaAddresses,
  RpcUrl,
  SignerIdentity,
  Size,
} from './scalars.ts'

/** The registry chain, on which Views are registered, and who may change the Views of this Host. */
interface Registry {
  /** Consensus RPC of the registry chain, which tells of new Views at once. It needs lcdUrl beside it. */
  readonly rpcUrl?: RpcUrl
  /** LCD (REST) of the registry chain, from which Views are listed and fetched. */
  readonly lcdUrl?: HttpUrl
  /** The key of a Secret that holds the token with which Views are posted and deleted. */
  readonly adminTokenSecretRef?: SecretKeyReference
}

/** The volume with a Host's store. */
interface HostDataVolume extends DataVolume {
  /**
   * Size. It can grow where the class allows, and shrinks to no less than the volumes have. A store
   * takes roughly 150 MB for every 1,000 blocks of 200 transactions and 500 logs, as mainnet has them, so
   * 10Gi are plenty with the default of pruning; without pruning a day of mainnet adds 1 GB, and the
   * default is not accepted.
   * @default "100Gi"
   */
  readonly size: Size
}

/** The volumes of each replica of a Host. */
interface HostStorage extends Storage {
  /**
   * The volume with the store. What is on it can be fetched again from peers; keys are not on it.
   * @default {}
   */
  readonly data: HostDataVolume
}

/** The Service of the API: GraphQL on 9181, the playground on 9182, inside the cluster health on 8080. */
interface HostApiService {
  /**
   * Kind of the Service.
   * @default "ClusterIP"
   */
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer'
  /**
   * Annotations of the Service, as load balancers read them.
   * @maxProperties 64
   */
  readonly annotations?: Readonly<Record<string, string>>
}

/**
 * The Services, one for each replica, that show its peer-to-peer port (9171) outside the cluster.
 * @rule !has(self.loadBalancerClass) || self.type == 'LoadBalancer'
 * @message loadBalancerClass needs type LoadBalancer: set it, or leave loadBalancerClass out
 * @fieldPath .loadBalancerClass
 * @rule self.type != 'NodePort' || !self.publicHealth
 * @message a NodePort cannot be 8080, where registry dashboards expect /health: use LoadBalancer, or set publicHealth to false
 * @fieldPath .publicHealth
 */
interface HostP2pService {
  /**
   * Kind of the Services. None makes none: peers in the cluster reach the pods without one.
   * @default "None"
   */
  readonly type: 'None' | 'ClusterIP' | 'NodePort' | 'LoadBalancer'
  /**
   * Annotations of the Services, as load balancers read them.
   * @maxProperties 64
   */
  readonly annotations?: Readonly<Record<string, string>>
  /**
   * Who makes the load balancers, with type LoadBalancer; left out, the cluster's own does. Kubernetes
   * lets nobody change it while the Services are there: leave type and class out once, then set both.
   */
  readonly loadBalancerClass?: LoadBalancerClass
  /**
   * By ordinal, a list for each replica: addresses published to peers where the operator cannot know them:
   * behind a NAT, with a NodePort, with a name of your own. Those of load balancers are discovered.
   * @maxItems 16
   * @listType atomic
   */
  readonly announce?: readonly ReplicaAddresses[]
  /**
   * Whether the Services also show port 8080, on the same address, with /health and nothing else.
   * Registry dashboards ask it there, and show the Host offline without; so does the operator, of the
   * public IP address that a load balancer has, but of none that announce has.
   * @default true
   */
  readonly publicHealth: boolean
}

/** The Services of a Host. */
interface HostServices {
  /**
   * The Service of the API: GraphQL on 9181, the playground on 9182, and with type ClusterIP health on
   * 8080.
   * @default {}
   */
  readonly api: HostApiService
  /**
   * The Services, one for each replica, that show its peer-to-peer port outside the cluster.
   * @default {"type": "None", "publicHealth": true}
   */
  readonly p2p: HostP2pService
}

/**
 * When a replica is ready, so that the Service of the API leads to it: once it has data, which /ready on port 8080 says.
 * What is left out keeps no replica from it that has as many blocks as the others.
 */
interface Readiness {
  /**
   * How many blocks a replica may be behind its signers, or behind another replica. Where all replicas are further
   * behind, the Service leads nowhere. Left out, 64 blocks behind another replica are too many, and no lag is: the
   * replica with most blocks is always ready.
   * @minimum 1
   * @maximum 1000000000
   */
  readonly maxLag?: number
  /**
   * How many stored blocks a replica needs: 1 where it is left out. With 0 a replica is ready that has none, where no
   * other one has any.
   * @minimum 0
   * @maximum 1000000000
   */
  readonly minBlocks?: number
}

/**
 * What a Host should be: replicas that fetch and verify blocks from Generators and serve GraphQL.
 * @rule self.replicas <= 1 || !has(self.podTemplate) || !has(self.podTemplate.spec) || !has(self.podTemplate.spec.hostNetwork) || !self.podTemplate.spec.hostNetwork
 * @message podTemplate.spec.hostNetwork allows one replica only, because the ports 8080, 9171, 9181, 9182 and 9183 are then the machine's: set replicas to 1 and create another Host for another machine
 * @fieldPath .replicas
 * @rule self.pruning.enabled || self.storage.data.size != '100Gi'
 * @message without pruning a store never stops growing, so the default of 100Gi is not taken: set storage.data.size to what the blocks need, roughly 150 MB for every 1,000 blocks of 200 transactions, or leave pruning enabled
 * @fieldPath .storage.data.size
 * @rule !has(self.podTemplate) || !has(self.podTemplate.spec) || !has(self.podTemplate.spec.containers) || !self.podTemplate.spec.containers.exists(c, c.name == 'generator')
 * @message the container of a Host's program is named host, and generator is that of a Generator: give the container another name
 * @fieldPath .podTemplate.spec.containers
 * @rule !self.pruning.enabled || !has(self.readiness) || !has(self.readiness.minBlocks) || self.readiness.minBlocks <= self.pruning.maxBlocks
 * @message no replica ever has more blocks than pruning.maxBlocks keeps: lower readiness.minBlocks, or raise pruning.maxBlocks
 * @fieldPath .readiness.minBlocks
 */
export interface HostSpec extends CommonSpec {
  /**
   * How many pods, 0 to 16, each with its own peer ID, keys and store. What a removed replica had is
   * kept and used again when it returns.
   * @default 1
   * @minimum 0
   * @maximum 16
   */
  readonly replicas: number
  /**
   * Pods with a lower ordinal than this keep the template they have when it changes, so that the last
   * ones can be tried first: one below replicas replaces one pod, and 0, as when left out, the rest. Only
   * while the StatefulSet is there: where somebody deleted it, or a lost keys claim had it removed, pods start
   * with the newest template.
   * @minimum 0
   * @maximum 16
   */
  readonly updatePartition?: number
  /** When a replica is ready, so that the Service of the API leads to it. */
  readonly readiness?: Readiness
  /**
   * Generators of this cluster to connect to and to trust. Their addresses, peer IDs and identities are
   * discovered; addresses and peer IDs are followed when they change, an identity when a person accepts that
   * (SignersAgree says how). The first one that lets this namespace have a key also gives the schema.
   * @maxItems 32
   * @listType atomic
   * @rule self.all(a, self.exists_one(b, a == b))
   * @message must not name a Generator twice: leave one of the two out
   */
  readonly generators?: readonly GeneratorReference[]
  /**
   * Peers to connect to elsewhere. Those that prove to be Generators are trusted, unless
   * trustedSigners names any; Hosts only hand on what signers sign.
   * @maxItems 64
   * @listType set
   */
  readonly bootstrapPeers?: readonly PeerAddress[]
  /**
   * The registry chain, on which Views are registered, and who may change the Views of this Host.
   * @default {}
   */
  readonly registry: Registry
  /**
   * Identities of Generators to trust, as status.nodes of a Generator or its /health shows them. Where one
   * is named, only these and those of generators are trusted: peers of bootstrapPeers are no longer trusted
   * for proving to be Generators (HOST_TRUST is signers). Needed behind other Hosts, which prove to be none.
   * @maxItems 256
   * @listType set
   */
  readonly trustedSigners?: readonly SignerIdentity[]
  /**
   * The volumes of each replica: one for keys, one for blocks, so that blocks can be thrown away
   * without the keys.
   * @default {}
   */
  readonly storage: HostStorage
  /**
   * The Services.
   * @default {}
   */
  readonly services: HostServices
}
