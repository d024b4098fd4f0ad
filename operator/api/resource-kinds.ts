/** The kinds of the API: their names, what `kubectl get` shows of them, and whether they scale. */
import type { Workload } from '../api.ts'

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
  readonly kind: Workload['kind']
  readonly plural: string
  readonly singular: string
  /** What `kubectl get` takes for it as well. */
  readonly shortName: string
  readonly columns: readonly Column[]
  readonly scale: boolean
}

export const apiGroup = 'viewmesh.io'
export const apiVersion = 'v1alpha1'
/** `apiVersion` of every resource of ours. */
export const groupVersion: `${typeof apiGroup}/${typeof apiVersion}` = `${apiGroup}/${apiVersion}`
/** `kubectl get viewmesh` lists all kinds. */
export const category = 'viewmesh'

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

export const generatorKind: ResourceKind = {
  apiVersion: groupVersion,
  kind: 'Generator',
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
  scale: false,
}

export const hostKind: ResourceKind = {
  apiVersion: groupVersion,
  kind: 'Host',
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
  scale: true,
}

/** Every kind that has pods, by its name. */
export const workloadKinds: Readonly<Record<Workload['kind'], ResourceKind>> = {
  Generator: generatorKind,
  Host: hostKind,
}

/** Every kind: definitions, watches, controllers and rights follow from this list. */
export const resourceKinds: readonly ResourceKind[] = Object.values(workloadKinds)
