/** What the specs of Generators and Hosts have in common, field by field. */
import type { PodTemplate } from './pod-template.ts'
import type { ChainPart, ClassName, LabelName, ObjectName, SecretKey, Size } from './scalars.ts'

/**
 * The chain that is indexed.
 * @rule !has(self.id) || ![self.name.lowerAscii() + '__' + self.network.lowerAscii()].exists(named, named in {'ethereum__mainnet': 1, 'ethereum__sepolia': 11155111, 'ethereum__holesky': 17000, 'ethereum__hoodi': 560048, 'arbitrum__mainnet': 42161, 'arbitrum__sepolia': 421614, 'base__mainnet': 8453, 'base__sepolia': 84532, 'gnosis__mainnet': 100, 'gnosis__chiado': 10200, 'optimism__mainnet': 10, 'optimism__sepolia': 11155420, 'polygon__mainnet': 137, 'polygon__amoy': 80002} && {'ethereum__mainnet': 1, 'ethereum__sepolia': 11155111, 'ethereum__holesky': 17000, 'ethereum__hoodi': 560048, 'arbitrum__mainnet': 42161, 'arbitrum__sepolia': 421614, 'base__mainnet': 8453, 'base__sepolia': 84532, 'gnosis__mainnet': 100, 'gnosis__chiado': 10200, 'optimism__mainnet': 10, 'optimism__sepolia': 11155420, 'polygon__mainnet': 137, 'polygon__amoy': 80002}[named] != self.id)
 * @message id is not the chain ID of the network that name and network stand for: correct it, or give the chain names of its own, such as Local and Devnet
 * @fieldPath .id
 */
interface Chain {
  /**
   * First part of the prefix of every collection, as in Ethereum__Mainnet.
   * @default "Ethereum"
   */
  readonly name: ChainPart
  /**
   * Second part of the prefix of every collection, as in Ethereum__Mainnet.
   * @default "Mainnet"
   */
  readonly network: ChainPart
  /**
   * Chain ID that the execution node has to have, or on a Host, that of its Generators. Left out it is discovered, and
   * status.nodes shows it; names of a known network, such as Ethereum and Mainnet, have the ID of that network then.
   * @minimum 1
   * @maximum 9007199254740991
   */
  readonly id?: number
}

/** Which image runs. What is left out, or empty, comes from the operator's own defaults. */
export interface Image {
  /**
   * Registry and repository, without tag and digest.
   * @maxLength 255
   * @rule self == '' || self.matches('^[a-zA-Z0-9][a-zA-Z0-9.-]*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$')
   * @message must be a repository without tag and digest, such as registry.example.org/viewmesh/host
   */
  readonly repository?: string
  /**
   * Tag; it is ignored where a digest is given.
   * @maxLength 128
   * @rule self == '' || self.matches('^[A-Za-z0-9_][A-Za-z0-9._-]*$')
   * @message must be a tag such as 0.1.0
   */
  readonly tag?: string
  /**
   * Digest, which names exactly one image.
   * @maxLength 71
   * @rule self == '' || self.matches('^sha256:[0-9a-f]{64}$')
   * @message must be a digest: sha256: and 64 lower-case hex digits
   */
  readonly digest?: string
  /**
   * When the kubelet pulls the image.
   * @default "IfNotPresent"
   */
  readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never'
}

/** Which blocks stay in the store. */
interface Pruning {
  /**
   * Whether old blocks are removed. Without pruning a store grows by roughly 150 MB for every 1,000
   * blocks of 200 transactions and 500 logs, as mainnet has them, which is 1 GB a day there, so
   * storage.data.size has to be said.
   * @default true
   */
  readonly enabled: boolean
  /**
   * How many of the newest blocks stay while pruning is enabled.
   * @default 1000
   * @minimum 1
   * @maximum 1000000000
   */
  readonly maxBlocks: number
}

/** What becomes of something when the resource is deleted. */
type DeletionPolicy = 'Retain' | 'Delete'

/** A Secret of this namespace, by name. */
interface SecretReference {
  /** Name of the Secret. */
  readonly name: ObjectName
}

/** One key of a Secret of this namespace. */
export interface SecretKeyReference {
  /** Name of the Secret. */
  readonly name: ObjectName
  /** Key in the Secret's data. */
  readonly key: SecretKey
}

/**
 * The keyring: the secrets from which peer IDs follow and with which the key directories open. It is
 * written once and never changed by the operator. Back it up: what is lost cannot be made again.
 */
interface Identity {
  /**
   * A Secret of your own instead of a generated one, with the key "0" for the first replica, "1" for
   * the second, and so on, each a key that no other replica of a Generator or of a Host has. Cannot be
   * changed afterwards.
   */
  readonly secretRef?: SecretReference
  /**
   * Whether the generated keyring Secret and the volumes with the key directories are deleted together
   * with the resource. A Secret of your own always stays.
   * @default "Retain"
   */
  readonly deletionPolicy: DeletionPolicy
}

/** The small volume with the key directory. */
interface KeysVolume {
  /**
   * Size. It can grow where the class allows, and shrinks to no less than the volumes have.
   * @default "1Gi"
   */
  readonly size: Size
  /**
   * StorageClass; left out it is the cluster's default class, and "" takes a volume without a class.
   * Cannot be changed afterwards.
   */
  readonly storageClassName?: ClassName
}

/** The volume with the store. What is on it can be fetched again; keys are not on it. */
export interface DataVolume {
  /** Size. It can grow where the class allows, and shrinks to no less than the volumes have. */
  readonly size: Size
  /**
   * StorageClass; left out it is the cluster's default class, and "" takes a volume without a class.
   * Cannot be changed afterwards.
   */
  readonly storageClassName?: ClassName
  /**
   * Whether the volume is deleted together with the resource.
   * @default "Retain"
   */
  readonly deletionPolicy: DeletionPolicy
}

/** The volumes of one replica. */
export interface Storage {
  /**
   * The small volume with the key directory.
   * @default {}
   */
  readonly keys: KeysVolume
  /** The volume with the store. What is on it can be fetched again; keys are not on it. */
  readonly data: DataVolume
  /**
   * Whether the operator replaces the pod of a volume that was made larger, where its file system grows
   * only when the pod is next started (StorageReady says FileSystemResizePending then): first pods that
   * are not ready, then the others one at a time, while all others are ready, and each once for such a change.
   * @default false
   */
  readonly restartToResize: boolean
}

/** Whether a NetworkPolicy is made for the pods. */
interface NetworkPolicySwitch {
  /**
   * Makes a NetworkPolicy that lets in peers from everywhere, health and API from the pods of this
   * cluster (and from outside where a Service shows them there), and lets out DNS and what this
   * resource has to reach. Without effect where the cluster's network plugin enforces none; to be
   * switched off where containers of podTemplate have to reach more. Who is in the network of a machine
   * is no pod to it: a Generator may reach such an execution node at any address; such a client of the
   * API, as some ingress controllers are, needs another NetworkPolicy that lets it in.
   * @default true
   */
  readonly enabled: boolean
}

/**
 * What Generators and Hosts share.
 * @rule self.chain.name == oldSelf.chain.name && self.chain.network == oldSelf.chain.network
 * @message chain.name and chain.network cannot change, because keys and stored blocks belong to them: create another resource for the other chain
 * @fieldPath .chain
 * @rule has(self.identity.secretRef) == has(oldSelf.identity.secretRef) && (!has(self.identity.secretRef) || self.identity.secretRef.name == oldSelf.identity.secretRef.name)
 * @message identity.secretRef cannot change, because the peer ID follows from this Secret and the key directory opens with no other: create another resource for another identity
 * @fieldPath .identity
 * @rule has(self.storage.keys.storageClassName) == has(oldSelf.storage.keys.storageClassName) && (!has(self.storage.keys.storageClassName) || self.storage.keys.storageClassName == oldSelf.storage.keys.storageClassName)
 * @message storage.keys.storageClassName cannot change, because Kubernetes moves no volume to another class: put the old class back
 * @fieldPath .storage.keys
 * @rule has(self.storage.data.storageClassName) == has(oldSelf.storage.data.storageClassName) && (!has(self.storage.data.storageClassName) || self.storage.data.storageClassName == oldSelf.storage.data.storageClassName)
 * @message storage.data.storageClassName cannot change, because Kubernetes moves no volume to another class: put the old class back, or create another resource with the new one
 * @fieldPath .storage.data
 */
export interface CommonSpec {
  /**
   * The chain that is indexed. Its names cannot be changed afterwards.
   * @default {}
   */
  readonly chain: Chain
  /**
   * Which image runs. What is left out, or empty, comes from the operator's own defaults.
   * @default {}
   */
  readonly image: Image
  /**
   * Which blocks stay in the store.
   * @default {}
   */
  readonly pruning: Pruning
  /**
   * The keyring: the secrets from which peer IDs follow and with which the key directories open. It is
   * written once and never changed by the operator. Back it up: what is lost cannot be made again.
   * @default {}
   */
  readonly identity: Identity
  /** The volumes: one for keys, one for blocks, so that blocks can be thrown away without the keys. */
  readonly storage: Storage
  /**
   * Whether a NetworkPolicy is made for the pods.
   * @default {}
   */
  readonly networkPolicy: NetworkPolicySwitch
  /**
   * When pods are replaced because a newer operator would build them differently (its default image
   * among it). OnSpecChange waits for the next change of this spec or of the annotation
   * viewmesh.io/roll-at and says UpdateAvailable meanwhile; Auto does not wait.
   * @default "OnSpecChange"
   */
  readonly rollout: 'OnSpecChange' | 'Auto'
  /**
   * While true nothing is written for this resource but its status, in which the Paused condition says
   * whether changes wait, and Events. A lost keys claim is not guarded then: with the next pod Kubernetes
   * makes an empty one, and the program there a new signing key.
   * @default false
   */
  readonly paused: boolean
  /**
   * While true no pod runs, whatever replicas say. Claims, keys, Services and their addresses stay, and with false the
   * same replicas go on. Suspended says whether the pods are gone. Not the same as paused, which leaves pods as they are.
   * @default false
   */
  readonly suspend: boolean
  /**
   * Merged over the pod template that the operator builds, as kubectl patch merges strategically:
   * containers, volumes, environment and the like by name, everything else by field. For resources,
   * node selectors, tolerations, affinity, priority, more containers and more environment. The
   * container of the program is named generator or host. What the operator has to decide itself is
   * refused; other errors in here, and more than 128 KiB of JSON, show as Stalled with the reason
   * InvalidSpec.
   */
  readonly podTemplate?: PodTemplate
}

/** A Generator in the cluster. */
export interface GeneratorReference {
  /**
   * Name of the Generator.
   * @maxLength 40
   */
  readonly name: ObjectName
  /** Its namespace; left out it is this one. */
  readonly namespace?: LabelName
}
