/**
 * The scalars of the API: texts and numbers with their bounds, named once and used by many fields.
 * Their comments become descriptions and rules of the CRDs (see `../crd/schema.ts`).
 */

/**
 * Name of an object.
 * @minLength 1
 * @maxLength 253
 * @rule self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')
 * @message must be the name of an object: lower-case letters, digits, "-" and "."
 */
export type ObjectName = string

/**
 * Name of a StorageClass, or nothing.
 * @maxLength 253
 * @rule self == '' || self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')
 * @message must be the name of a StorageClass, or "" for volumes without a class
 */
export type ClassName = string

/**
 * Name of a namespace or a Service.
 * @minLength 1
 * @maxLength 63
 * @rule self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')
 * @message must be a DNS label: lower-case letters, digits and "-"
 */
export type LabelName = string

/**
 * Key in a Secret's data.
 * @minLength 1
 * @maxLength 253
 * @rule self.matches('^[-._a-zA-Z0-9]+$')
 * @message must be a key of a Secret: letters, digits, "-", "_" and "."
 */
export type SecretKey = string

/**
 * Key in a ConfigMap's data.
 * @minLength 1
 * @maxLength 253
 * @rule self.matches('^[-._a-zA-Z0-9]+$')
 * @message must be a key of a ConfigMap: letters, digits, "-", "_" and "."
 */
export type ConfigMapKey = string

/**
 * A SHA-256.
 * @maxLength 64
 * @rule self.matches('^[0-9a-f]{64}$')
 * @message must be a SHA-256 in 64 lower-case hex digits, as sha256sum prints it
 */
export type Sha256 = string

/**
 * An argument of a lens.
 * @maxLength 65536
 */
export type LensArgument = string

/**
 * Value of a label.
 * @maxLength 63
 * @rule self == '' || self.matches('^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$')
 * @message must be the value of a label: letters and digits with "-", "_" and "." between them
 */
export type LabelText = string

/**
 * ID of a View.
 * @maxLength 66
 * @rule self.matches('^0x([0-9a-f]{64}|[0-9A-Fa-f]{40})$')
 * @message must be the ID of a View: 0x and 64 lower-case hex digits, or 0x and the 40 of the registry chain
 */
export type ViewIdentifier = string

/**
 * A chain ID.
 * @minimum 1
 * @maximum 999999999999999
 */
export type ChainNumber = number

/**
 * An amount of coins.
 * @maxLength 32
 * @rule self.matches(r'^(0|[1-9]\d{0,8})(\.\d{1,18})?$')
 * @message must be an amount of SHNZ such as 0.25
 */
export type CoinAmount = string

/**
 * A port.
 * @minimum 1
 * @maximum 65535
 */
export type Port = number

/**
 * One part of the prefix of every collection.
 * @maxLength 32
 * @rule self.matches('^[A-Za-z][A-Za-z0-9]*$')
 * @message must be letters and digits, beginning with a letter: it becomes part of GraphQL type names
 */
export type ChainPart = string

/**
 * A size.
 * @maxLength 32
 * @rule isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))
 * @message must be a size such as 300Gi or 1Ti
 */
export type Size = string

/**
 * An HTTP address.
 * @maxLength 1024
 * @rule !self.matches('^[A-Za-z]+://[^/?#]*@')
 * @message must not hold a user name or password, since many may read a spec: put the credential into a Secret
 * @rule self.matches(r'^https?://[^/?#,\s]+([/?][^#,\s]*)?$')
 * @message must be a URL such as http://geth:8545, without commas and spaces
 */
export type HttpUrl = string

/**
 * A WebSocket address.
 * @maxLength 1024
 * @rule !self.matches('^[A-Za-z]+://[^/?#]*@')
 * @message must not hold a user name or password, since many may read a spec: put the credential into a Secret
 * @rule self.matches(r'^wss?://[^/?#,\s]+([/?][^#,\s]*)?$')
 * @message must be a URL such as ws://geth:8546, without commas and spaces
 */
export type WebSocketUrl = string

/**
 * An HTTP or WebSocket address.
 * @maxLength 1024
 * @rule !self.matches('^[A-Za-z]+://[^/?#]*@')
 * @message must not hold a user name or password, since many may read a spec: put the credential into a Secret
 * @rule self.matches(r'^(https?|wss?)://[^/?#,\s]+([/?][^#,\s]*)?$')
 * @message must be a URL that begins with http://, https://, ws:// or wss://, without commas and spaces
 */
export type RpcUrl = string

/**
 * An address of a node without a peer ID, as a multiaddr.
 * @maxLength 512
 * @rule self.matches(r'^/(ip4/((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)|ip6/[0-9a-fA-F:.]{2,45}|dns[46]?/[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?)/tcp/([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$')
 * @message must be a multiaddr such as /ip4/203.0.113.7/tcp/9171 or /dns4/gen.example.org/tcp/9171, without the peer ID, which is added
 */
export type NodeAddress = string

/**
 * The addresses of one replica.
 * @maxItems 16
 * @listType set
 */
export type ReplicaAddresses = readonly NodeAddress[]

/**
 * The name of a kind of load balancer.
 * @minLength 1
 * @maxLength 316
 * @rule self.matches('^([a-z0-9][-a-z0-9.]{0,252}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')
 * @message must be a name such as example.org/internal, of letters, digits, "-", "_" and "."
 */
export type LoadBalancerClass = string

/**
 * An address of a peer, as a multiaddr.
 * @maxLength 512
 * @rule self.matches(r'/p2p/(12D3KooW[1-9A-HJ-NP-Za-km-z]{44}|16Uiu2HA[1-9A-HJ-NP-Za-km-z]{45})$')
 * @message must end in /p2p/<peer id>, because the connection is checked against it; the ID is p2p.self.id in the /health of that node on port 8080
 * @rule self.matches(r'^/(ip4/((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)|ip6/[0-9a-fA-F:.]{2,45}|dns[46]?/[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?)/tcp/([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])(/p2p/[^/\s]*)?$')
 * @message must begin like /ip4/203.0.113.7/tcp/9171 or /dns4/gen.example.org/tcp/9171 (also ip6, dns6, dns)
 */
export type PeerAddress = string

/**
 * Public key of a signer.
 * @maxLength 66
 * @rule self.matches('^(0[23])?[0-9a-f]{64}$')
 * @message must be a signer's public key in lower-case hex without 0x, as BlockSignature.signatureIdentity shows it
 */
export type SignerIdentity = string

/** Whatever Kubernetes takes at this place; not checked here. */
export type OpenObject = Readonly<Record<string, unknown>>
