/** The spec of a View, field by field. */
import type { SecretKeyReference } from './common-spec.ts'
import type {
  ChainNumber,
  CoinAmount,
  ConfigMapKey,
  HttpUrl,
  LabelText,
  LensArgument,
  ObjectName,
  Sha256,
  ViewIdentifier,
} from './scalars.ts'

/** One key of a ConfigMap of this namespace. */
interface ConfigMapKeyReference {
  /** Name of the ConfigMap. */
  readonly name: ObjectName
  /** Key in the ConfigMap's binaryData. */
  readonly key: ConfigMapKey
}

/** Where the WebAssembly module of a lens is, and which one it is. */
interface LensModule {
  /** The key of a ConfigMap that holds the module, as kubectl create configmap --from-file makes one. */
  readonly configMapRef: ConfigMapKeyReference
  /** SHA-256 of the module, as sha256sum prints it: another module is refused. */
  readonly sha256: Sha256
}

/** One step between the query and the rows. */
export interface ViewLens {
  /**
   * What people call it.
   * @minLength 1
   * @maxLength 64
   * @rule self.matches('^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$')
   * @message must be letters and digits with "-", "_" and "." between them, such as decode
   */
  readonly label: string
  /** Its WebAssembly module. */
  readonly wasm: LensModule
  /**
   * What the module is given before its first document, as a JSON object of texts.
   * @minProperties 1
   * @maxProperties 32
   */
  readonly arguments?: Readonly<Record<string, LensArgument>>
}

/** What a View is made of. Its ID follows from all of it. */
export interface ViewDefinition {
  /**
   * What is read of each block: a selection without outer braces, as in Log { address topics data }.
   * @minLength 1
   * @maxLength 8192
   */
  readonly query: string
  /**
   * The type of the rows, as in type Transfer { from: String to: String amount: BigInt }; its name is what is queried.
   * @minLength 1
   * @maxLength 8192
   */
  readonly sdl: string
  /**
   * The lenses, in the order in which documents pass them.
   * @maxItems 16
   * @listType atomic
   * @rule self.all(a, self.exists_one(b, a.label == b.label))
   * @message must not have two lenses of one label: rename one of the two
   */
  readonly lenses?: readonly ViewLens[]
}

/**
 * Which Hosts are to serve a View; an empty selector is all of this namespace.
 */
interface HostSelector {
  /**
   * Labels that a Host has to have, with these values.
   * @maxProperties 16
   */
  readonly matchLabels?: Readonly<Record<string, LabelText>>
}

/**
 * How a View is registered on the registry chain, once and for good. Jobs do it, and only they see the key.
 */
export interface ViewRegistration {
  /**
   * Which registry chain: a development network so far.
   * @default "Devnet"
   */
  readonly target: 'Devnet'
  /** JSON-RPC of the EVM of a node of that chain. */
  readonly rpcUrl: HttpUrl
  /**
   * The chain ID that is signed for. Without it, what the node says, where that is a known registry chain: else nothing
   * is signed.
   */
  readonly chainId?: ChainNumber
  /**
   * The most that one transaction may cost, in SHNZ. Where another one takes its place, the View is prepared again as
   * another transaction, by itself at most three times.
   * @default "0.1"
   */
  readonly maxFee: CoinAmount
  /**
   * The key of a Secret that holds the private key that signs, as 64 hex digits. Its address is the sender of the View,
   * from which the ID follows, so that it cannot be changed afterwards. Only Jobs mount it: the operator never reads it.
   */
  readonly signerSecretRef: SecretKeyReference
}

/**
 * What a View should be: rows that are computed of every block, and the Hosts that serve them.
 * @rule has(self.definition) != has(self.registryID)
 * @message must have either definition, which is handed to the Hosts, or registryID, which names a registered View: leave one of the two out
 * @rule has(self.definition) == has(oldSelf.definition) && (!has(self.definition) || self.definition == oldSelf.definition)
 * @message definition cannot change, because the ID of the View and its rows follow from it: create another View with the new definition
 * @fieldPath .definition
 * @rule has(self.registryID) == has(oldSelf.registryID) && (!has(self.registryID) || self.registryID == oldSelf.registryID)
 * @message registryID cannot change, because it is the View: create another View for another ID
 * @fieldPath .registryID
 * @rule !(has(self.registration) && has(self.registryID))
 * @message registration is for a definition, and registryID names a View that is registered: leave one of the two out
 * @fieldPath .registration
 * @rule !has(oldSelf.registration) || has(self.registration)
 * @message registration cannot be taken back, because what is on the chain stays there: put it back, or delete the View
 * @fieldPath .registration
 * @rule !has(oldSelf.registration) || !has(self.registration) || (self.registration.target == oldSelf.registration.target && self.registration.signerSecretRef == oldSelf.registration.signerSecretRef)
 * @message registration.target and registration.signerSecretRef cannot change, because the ID of the View follows from who signs: create another View for another signer
 * @fieldPath .registration
 */
export interface ViewSpec {
  /** What the View is made of. Cannot be changed afterwards. */
  readonly definition?: ViewDefinition
  /**
   * The ID of a View of the registry chain instead: the operator then only reports whether the selected Hosts, which
   * find it by themselves (spec.registry of a Host), serve it. Cannot be changed afterwards.
   */
  readonly registryID?: ViewIdentifier
  /** Registers the definition on the registry chain. It can be added later, which gives the View another ID. */
  readonly registration?: ViewRegistration
  /**
   * Which Hosts of this namespace serve it.
   * @default {}
   */
  readonly hostSelector: HostSelector
  /**
   * While true nothing is written for this View but its status, in which the Paused condition says whether changes wait,
   * and Events: Hosts that have it go on, and no other Host gets it.
   * @default false
   */
  readonly paused: boolean
}
