/** The kinds of the API: their names, what `kubectl get` shows of them, and whether they scale. */
import type { Resource, Workload } from '../api.ts'

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date'
  readonly jsonPath: string
  readonly description: string
  /** Shown with `-o wide` only. */
  readonly wide?: true
}

/** A kind, also as the type that requests to the API server are about. */
export interface ResourceKind {
  readonly apiVersion: typeof groupVersion
  readonly kind: Resource['kind']
  /** Name of its interface in `operator/api.ts`. */
  readonly type: string
  readonly plural: string
  readonly singular: string
  /** What `kubectl get` takes for it as well. */
  readonly shortName: string
  readonly columns: readonly Column[]
  /** Fields that `kubectl get --field-selector` takes. */
  readonly selectableFields: readonly string[]
  readonly scale: boolean
  /**
   * Whether resources of other kinds are worked on while this one cannot be read. Its definition may come later than
   * the operator.
   */
  readonly standsAlone: boolean
}

export const apiGroup = 'viewmesh.io'
export const apiVersion = 'v1alpha1'
/** `apiVersion` of every resource of ours. */
export const groupVersion: `${typeof apiGroup}/${typeof apiVersion}` = `${apiGroup}/${apiVersion}`
/** `kubectl get viewmesh` lists all kinds. */
export const category = 'viewmesh'

const networkField: readonly string[] = ['.spec.chain.network']

const chainColumns: readonly Column[] = [
  {
    name: 'Chain',
    type: 'string',
    jsonPath: '.spec.chain.name',
    description: 'The chain that is indexed.',
  },
  {
    name: 'Network',
    type: 'string',
    jsonPath: '.spec.chain.network',
    description: 'Which network of the chain.',
  },
]

const progressColumns: readonly Column[] = [
  {
    name: 'Head',
    type: 'integer',
    jsonPath: '.status.head',
    description: 'The newest block that every ready replica has.',
  },
  {
    name: 'Lag',
    type: 'integer',
    jsonPath: '.status.lag',
    description: 'How many blocks the slowest replica is behind its source.',
  },
  {
    name: 'Peers',
    type: 'integer',
    jsonPath: '.status.peers',
    description: 'Peers of the replica that has fewest.',
  },
]

const stateColumns: readonly Column[] = [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether everything is as the spec wants it.',
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why it is ready or not.',
  },
  {
    name: 'Age',
    type: 'date',
    jsonPath: '.metadata.creationTimestamp',
    description: 'Time since the resource was created.',
  },
]

const identityColumns: readonly Column[] = [
  {
    name: 'Peer ID',
    type: 'string',
    jsonPath: '.status.nodes[0].peerID',
    description: 'Peer ID of the first replica.',
    wide: true,
  },
  {
    name: 'Identity',
    type: 'string',
    jsonPath: '.status.nodes[0].identity',
    description: 'Public key that the first replica signs with.',
    wide: true,
  },
  {
    name: 'Genesis',
    type: 'string',
    jsonPath: '.status.nodes[0].genesis',
    description: 'Block 0 of what the first replica stores.',
    wide: true,
  },
  {
    name: 'Last Block',
    type: 'date',
    jsonPath: '.status.nodes[0].lastBlockTime',
    description: 'Time since the first replica stored its newest block.',
    wide: true,
  },
  {
    name: 'Address',
    type: 'string',
    jsonPath: '.status.nodes[0].addresses[0]',
    description: 'Where peers reach the first replica.',
    wide: true,
  },
  {
    name: 'Image',
    type: 'string',
    jsonPath: '.status.image',
    description: 'Image that the pods are meant to run.',
    wide: true,
  },
]

export const generatorKind: ResourceKind & { readonly kind: 'Generator' } = {
  apiVersion: groupVersion,
  kind: 'Generator',
  type: 'Generator',
  plural: 'generators',
  singular: 'generator',
  shortName: 'vmg',
  columns: [
    ...chainColumns,
    ...progressColumns,
    {
      name: 'Upstream',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="UpstreamReachable")].reason',
      description: 'How new blocks come from the execution node, or why none do.',
    },
    ...stateColumns,
    {
      name: 'Chain ID',
      type: 'integer',
      jsonPath: '.status.nodes[0].chainID',
      description: 'Chain ID of its execution node.',
      wide: true,
    },
    ...identityColumns,
  ],
  selectableFields: networkField,
  scale: false,
  standsAlone: false,
}

export const hostKind: ResourceKind & { readonly kind: 'Host' } = {
  apiVersion: groupVersion,
  kind: 'Host',
  type: 'Host',
  plural: 'hosts',
  singular: 'host',
  shortName: 'vmh',
  columns: [
    ...chainColumns,
    ...progressColumns,
    {
      name: 'Pods',
      type: 'string',
      jsonPath: '.status.pods',
      description: 'Ready pods of the wanted ones.',
    },
    {
      name: 'Signers',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="SignersAgree")].status',
      description: 'Whether heads of the accepted signers arrive, and they agree.',
    },
    ...stateColumns,
    ...identityColumns,
  ],
  selectableFields: networkField,
  scale: true,
  standsAlone: false,
}

export const viewKind: ResourceKind = {
  apiVersion: groupVersion,
  kind: 'View',
  type: 'ViewResource',
  plural: 'views',
  singular: 'view',
  shortName: 'vmv',
  columns: [
    {
      name: 'ID',
      type: 'string',
      jsonPath: '.status.viewID',
      description: 'The ID of the View, as Hosts and the registry chain know it.',
    },
    {
      name: 'State',
      type: 'string',
      jsonPath: '.status.state',
      description: 'The state that is furthest from live, of all selected Hosts.',
    },
    {
      name: 'Rows',
      type: 'integer',
      jsonPath: '.status.rows',
      description: 'Rows of the replica that has fewest.',
    },
    {
      name: 'Hosts',
      type: 'string',
      jsonPath: '.status.served',
      description: 'Replicas that serve it, of all that the selected Hosts want.',
    },
    {
      name: 'Last Block',
      type: 'integer',
      jsonPath: '.status.lastBlock',
      description: 'The newest block that every replica which serves it has done.',
    },
    ...stateColumns,
    {
      name: 'Type',
      type: 'string',
      jsonPath: '.status.type',
      description: 'The type of its rows.',
      wide: true,
    },
    {
      name: 'Registered',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Registered")].reason',
      description: 'How far it is registered, or why it is not; nothing without spec.registration.',
      wide: true,
    },
    {
      name: 'Signer',
      type: 'string',
      jsonPath: '.status.registration.creator',
      description: 'The address that registers it.',
      wide: true,
    },
    {
      name: 'Transaction',
      type: 'string',
      jsonPath: '.status.registration.transaction.hash',
      description: 'The transaction that registers it.',
      wide: true,
    },
  ],
  selectableFields: [],
  scale: false,
  // Hosts keep the Views they have.
  standsAlone: true,
}

/** Every kind that has pods, by its name. */
export const workloadKinds: { readonly [K in Workload['kind']]: ResourceKind & { kind: K } } = {
  Generator: generatorKind,
  Host: hostKind,
}

/** Every kind: definitions, watches, controllers and rights follow from this list. */
export const resourceKinds: readonly ResourceKind[] = [...Object.values(workloadKinds), viewKind]
