/** What the operator reports about Generators and Hosts, field by field; of Views see `view-status.ts`. */

/** One statement about the resource (the shape all of Kubernetes uses). */
export interface Condition {
  /**
   * What the statement is about, such as Ready.
   * @maxLength 316
   */
  readonly type: string
  /** Whether it holds. */
  readonly status: 'True' | 'False' | 'Unknown'
  /** The generation of the resource that was reconciled. */
  readonly observedGeneration?: number
  /**
   * When status last changed.
   * @format date-time
   */
  readonly lastTransitionTime: string
  /**
   * Why, in one word; the same word is the reason of the Event.
   * @minLength 1
   * @maxLength 1024
   */
  readonly reason: string
  /**
   * Why, in a sentence, and what to do about it.
   * @maxLength 32768
   */
  readonly message: string
}

/** What is known of one replica. */
export interface NodeStatus {
  /** Number of the replica, from 0. */
  readonly ordinal: number
  /** Its peer ID, as it says itself. */
  readonly peerID?: string
  /**
   * The public key it signs with, in hex, as it says itself: of a Generator what trustedSigners of a Host takes.
   * @maxLength 66
   */
  readonly identity?: string
  /**
   * Hash of block 0 of the chain that it stores, as it says itself; another one is another chain, whatever its name.
   * @maxLength 66
   */
  readonly genesis?: string
  /**
   * Chain ID: of a Generator what its execution node says, of a Host what the Generators of generators on the chain
   * that it stores say.
   */
  readonly chainID?: number
  /**
   * Addresses at which peers reach it, as multiaddrs that end in the peer ID.
   * @listType atomic
   */
  readonly addresses?: readonly string[]
  /** Its newest block. */
  readonly head?: number
  /**
   * When it stored its newest block, by the clock of its machine.
   * @format date-time
   */
  readonly lastBlockTime?: string
  /** How many blocks it is behind its source. */
  readonly lag?: number
  /** How many peers it is connected to. */
  readonly peers?: number
  /** How a Generator receives new blocks: websocket, http or offline. */
  readonly upstreamMode?: string
  /** Short fingerprint of its key in the keyring Secret, from which the key cannot be found. */
  readonly keyringFingerprint?: string
  /** UID of the claim with the key directory that opens with this key. */
  readonly keysClaimUID?: string
}

/** What the volumes have; a spec may ask for as little again where more was refused. */
export interface StorageStatus {
  /**
   * The largest size that a claim for keys asks for.
   * @maxLength 64
   */
  readonly keys?: string
  /**
   * The largest size that a claim for blocks asks for.
   * @maxLength 64
   */
  readonly data?: string
}

/** An object of which admission or a default of Kubernetes changed what the operator applied. */
export interface AdmissionChange {
  /**
   * Its kind and name, such as Service mainnet-host.
   * @maxLength 317
   */
  readonly object: string
  /**
   * Paths of the fields that have other values.
   * @maxItems 32
   * @listType atomic
   */
  readonly fields: readonly string[]
}

/** What all resources report alike. */
export interface ResourceStatus {
  /**
   * The operator that manages it, as namespace/name of its Lease. Where two operators watch a namespace, the one
   * whose name is not here leaves the resource alone.
   * @maxLength 317
   * @rule self.matches('^[-a-z0-9]+/[-.a-z0-9]+$')
   * @message must be the namespace and the name of a Lease
   */
  readonly managedBy?: string
  /**
   * The newest generation of the spec that was reconciled without a failure that is tried again; -1 before the
   * first one.
   */
  readonly observedGeneration?: number
  /**
   * Value of the annotation viewmesh.io/reconcile-at that was last acted upon; while spec.paused is
   * true, nothing is, and the value stays.
   */
  readonly lastHandledReconcileAt?: string
  /**
   * What holds and what does not.
   * @listMapKey type
   */
  readonly conditions?: readonly Condition[]
  /**
   * Objects of which admission (a webhook, a policy) or a default of Kubernetes changed what the operator applied last.
   * The values are left so; an Event, ChangedByAdmission, said so once.
   * @listMapKey object
   * @maxItems 128
   */
  readonly changedByAdmission?: readonly AdmissionChange[]
}

/** What Generators and Hosts report alike. */
interface CommonStatus extends ResourceStatus {
  /** What the volumes have; a spec may ask for as little again where more was refused. */
  readonly storage?: StorageStatus
  /** Image that the pods are meant to run. */
  readonly image?: string
  /** Ready pods of the wanted ones, such as 1/2. */
  readonly pods?: string
  /** The newest block that every ready replica has. */
  readonly head?: number
  /** How many blocks the replica that is furthest behind is behind its source. */
  readonly lag?: number
  /** Peers of the replica that has fewest. */
  readonly peers?: number
  /**
   * What is known of each replica.
   * @listMapKey ordinal
   */
  readonly nodes?: readonly NodeStatus[]
}

/** What the operator reports about a Generator. */
export type GeneratorStatus = CommonStatus

/** A signer that a Host accepts because its spec names the Generator. */
export interface GeneratorSigner {
  /**
   * The Generator, as namespace/name.
   * @maxLength 104
   */
  readonly generator: string
  /**
   * The accepted public key, in hex.
   * @maxLength 66
   */
  readonly identity: string
}

/** A signer that replicas of a Host say they accept. */
export interface AcceptedSigner {
  /**
   * Its public key, in hex.
   * @maxLength 66
   */
  readonly identity: string
  /**
   * Why it is accepted: setting (trustedSigners), file (generators), bootstrap (a peer of bootstrapPeers that proved to
   * be a Generator), or anyone (HOST_TRUST).
   * @maxLength 64
   */
  readonly source: string
  /**
   * The peer ID that proved this identity.
   * @maxLength 128
   */
  readonly peer?: string
}

/** What the operator reports about a Host. */
export interface HostStatus extends CommonStatus {
  /**
   * Signers that are accepted because generators names the Generator. The identity that a Generator reported
   * first stays until a person accepts another identity by the annotation viewmesh.io/accept-signers, or takes
   * the Generator off generators.
   * @listMapKey generator
   * @maxItems 32
   */
  readonly signers?: readonly GeneratorSigner[]
  /**
   * Every signer that a replica said last it accepts, wherever it is named: whose blocks this Host stores. The first 64.
   * @listMapKey identity
   * @maxItems 64
   */
  readonly acceptedSigners?: readonly AcceptedSigner[]
  /** How many pods there are; read by the scale subresource. */
  readonly replicas?: number
  /** Label selector of the pods as text; read by the scale subresource. */
  readonly selector?: string
}
