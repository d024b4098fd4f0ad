/** Situations of a resource as data, which between them lead to every reason of every condition. */
import type { Generator, Host, Workload } from '../../../operator/api.ts'
import { type IdentityPlan, planIdentity } from '../../../operator/reconcile/evaluate/identity.ts'
import { observedCodes } from '../../../operator/reconcile/evaluate/observed-codes.ts'
import type { ObservedState } from '../../../operator/reconcile/evaluate/observed-state.ts'
import { chainProblem } from '../../../operator/reconcile/evaluate/storage.ts'
import { missingSecretStatement } from '../../../operator/reconcile/fetch/named-secrets.ts'
import type { SchemaFacts } from '../../../operator/reconcile/fetch/schema-source.ts'
import { nameTakenError } from '../../../operator/reconcile/fetch/secrets.ts'
import { type GeneratorFacts, generatorLogic } from '../../../operator/reconcile/generator-logic.ts'
import { createHostLogic } from '../../../operator/reconcile/host-logic.ts'
import {
  keepClaim,
  type PlacedClaim,
  type ReplicaIdentity,
} from '../../../operator/reconcile/observe/claim.ts'
import { type HealthView, parseHealth } from '../../../operator/reconcile/observe/health-view.ts'
import { keepPod } from '../../../operator/reconcile/observe/pod.ts'
import { problemOf } from '../../../operator/reconcile/statements/problem.ts'
import type { Findings } from '../../../operator/reconcile/status/findings.ts'
import { wantedStatus } from '../../../operator/reconcile/status/resource-status.ts'
import { generatorPodTemplate } from '../../../operator/resources/pod/pod-template.ts'
import type { WantedCondition } from '../../../operator/runtime/status-writer.ts'
import { ServiceError } from '../../../src/errors.ts'
import {
  generatorContext,
  peerID,
  readGenerator,
  readHost,
} from '../../support/resources/operator-cases.ts'
import {
  boundClaims,
  emptyState,
  foundFacts,
  noViews,
  podWith,
  readyCounts,
  refusedApply,
} from '../support/operator-findings.ts'
import { viewOf } from '../support/operator-view.ts'

type Conditions = readonly WantedCondition[]

const generator = readGenerator('generator-minimal')
/** A Host that needs nothing. */
export const host: Host = readHost('host-minimal')
const options = { clusterDomain: 'cluster.local', defaults: generatorContext.defaults }

const generatorFacts: GeneratorFacts = {
  executionNode: null,
  missingService: null,
  hiddenService: null,
  closedService: null,
  schemaKeysRenewed: null,
}

const hostFacts: SchemaFacts = {
  schemaSource: null,
  keyless: null,
  isRefused: false,
  awaited: null,
}

const source = { name: 'mainnet', namespace: 'validators' }

/** What the status of a Generator says; without more, all is well with it. */
function ofGenerator(
  state: Partial<ObservedState>,
  findings: Partial<Findings<GeneratorFacts>> = {},
  of: Generator = generator,
): Conditions {
  return wantedStatus(generatorLogic, { options }, of, {
    findings: { ...foundFacts(generatorFacts), ...findings },
    state: { ...emptyState, counts: readyCounts, claims: boundClaims(of), ...state },
  }).conditions
}

/** What the status of a Host says, in a cluster without Generators but those that are `seen`. */
export function ofHost(
  state: Partial<ObservedState>,
  { facts = hostFacts, isWatched = true, seen = [], ...findings }: HostFindings = {},
  of: Host = host,
): Conditions {
  const { Generator: generators } = viewOf(seen).resources
  const reflectorOf = isWatched ? generators.reflectorOf : () => undefined
  const logic = createHostLogic({ ...generators, reflectorOf }, noViews)
  return wantedStatus(logic, { options }, of, {
    findings: { ...foundFacts(facts), ...findings },
    state: { ...emptyState, counts: readyCounts, claims: boundClaims(of), ...state },
  }).conditions
}

type HostFindings = Partial<Findings<SchemaFacts>> & {
  readonly facts?: SchemaFacts
  readonly isWatched?: boolean
  readonly seen?: readonly Generator[]
}

/** The resource with these fields of its spec replaced. */
export function withSpec<T extends Workload>(resource: T, spec: object): T {
  return { ...resource, spec: { ...resource.spec, ...spec } }
}

/** What one replica says at /health. */
function saying(program: 'generator' | 'host', more: object): Partial<ObservedState> {
  const self = { self: { id: 'me' } }
  const view = parseHealth(JSON.stringify({ program, p2p: self, ...more })) as HealthView
  return { views: new Map([[0, view]]) }
}

/** Advice of others that a message hands on; of ours would be an imperative. */
export const advice = 'Advice of somebody else.'

const failing = (code: string): Partial<ObservedState> =>
  saying('generator', { errors: [{ code, message: 'It fails', remedy: advice }] })
const connectedTo = (peers: readonly string[], more: object = {}): Partial<ObservedState> =>
  saying('host', { p2p: { self: { id: 'me' }, peers: peers.map((id) => ({ id })) }, ...more })
const withSchema = (state: string, more: object = {}): Partial<ObservedState> =>
  saying('host', { schema: { state }, ...more })

function identityOf(given: Partial<ReplicaIdentity>, of: Workload, exists = true): IdentityPlan {
  const claim = { uid: 'claim', fingerprint: 'abc', isTerminating: false, volumeName: null }
  const known = { fingerprint: 'abc', claimUID: 'claim' }
  return planIdentity(of, [{ ordinal: 0, key: 'abc', claim, known, ...given }], exists)
}

function identity(given: Partial<ReplicaIdentity>): Conditions {
  const plan = identityOf(given, host)
  return ofHost({}, { identity: plan, problem: plan.problem })
}

const refused = (code: number, message: string): Conditions =>
  ofHost({}, { problem: problemOf(refusedApply(code, message)) })

const own = withSpec(host, { identity: { ...host.spec.identity, secretRef: { name: 'mine' } } })
const fresh = { key: null, claim: null, known: null }

const two = withSpec(host, { replicas: 2 })
const none = withSpec(host, { replicas: 0 })
const suspended = withSpec(host, { suspend: true })
const p2p = (type: string, of: Host = host): Host =>
  withSpec(of, { services: { ...of.spec.services, p2p: { type, publicHealth: true } } })
const referring = withSpec(host, { generators: [source] })
const addressed = withSpec(host, { bootstrapPeers: [`/ip4/203.0.113.9/tcp/9171/p2p/${peerID}`] })
/** A program that reports this code, of which the table says which condition it concerns. */
const reporting = (code: string, condition: string): Conditions => {
  const errors = [{ code, message: 'It is so', remedy: advice }]
  if (condition === 'UpstreamReachable') return ofGenerator(failing(code))
  const facts = { ...hostFacts, schemaSource: source }
  return ofHost(withSchema('embedded', { trust: 'bootstrap', errors }), { facts }, referring)
}

const mismatch = { errors: [{ code: 'P2P_PEER_ID_MISMATCH', message: `expected ${peerID}` }] }

const waiting = (reason: string): Partial<ObservedState> => ({
  counts: { ...readyCounts, readyReplicas: 0 },
  pods: new Map([[0, podWith(host, { state: { waiting: { reason } } })]]),
})
const claimSaying = (status: object, size = '100Gi'): PlacedClaim[] =>
  boundClaims(host).map((placed) => {
    const metadata = { name: placed.claim.name, uid: 'claim' }
    const spec = { resources: { requests: { storage: size } } }
    return {
      ...placed,
      claim: keepClaim({ metadata, spec, status: { phase: 'Bound', ...status } }),
    }
  })
const resizing = (type: string): object => ({
  capacity: { storage: '1Mi' },
  conditions: [
    { type, status: 'True', message: 'no space', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ],
})
const unscheduled = keepPod({
  metadata: { name: 'mainnet-host-0' },
  status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
})
const ended = podWith(generator, {
  lastState: {
    terminated: {
      exitCode: 1,
      message:
        '{"level":"fatal","err":{"code":"GENERATOR_CHAIN_CHANGED","message":"It is another."}}',
    },
  },
})
const plan = { objects: [], isGrowing: false, isSetBeingRemoved: false, updateAvailable: null }

const foreign = boundClaims(host).map((placed) => ({
  ...placed,
  claim: { ...placed.claim, annotations: { 'viewmesh.io/network': 'Ethereum__Other' } },
}))

/** By name, the conditions that a situation leads to. */
export const situations: Readonly<Record<string, () => Conditions>> = {
  'all is well': () => ofHost({}, { plan }),
  'a Generator of all is well': () =>
    ofGenerator(saying('generator', { upstream_mode: 'websocket' })),
  'no pods are wanted': () =>
    ofHost({ counts: { ...readyCounts, replicas: 0 }, claims: [] }, {}, none),
  'it is suspended': () =>
    ofHost({ counts: { ...readyCounts, replicas: 0 }, claims: [] }, {}, suspended),
  'it is suspended, and a pod is there still': () =>
    ofHost({ pods: new Map([[0, podWith(host, {})]]) }, {}, suspended),
  'nothing is there yet': () => ofHost({ counts: null, claims: [] }),
  'a pod starts': () => ofHost({ counts: { ...readyCounts, readyReplicas: 0 } }),
  'pods are replaced': () =>
    ofHost({ counts: { ...readyCounts, isRolling: true, updatedReplicas: 0 } }),
  'a pod crashes': () => ofHost(waiting('CrashLoopBackOff')),
  'a pod may not be made': () =>
    ofHost(
      { counts: { ...readyCounts, replicas: 0, readyReplicas: 0 } },
      { failedCreate: 'create Pod a in StatefulSet b failed error: no.' },
    ),
  'a pod fits nowhere': () =>
    ofHost({ counts: { ...readyCounts, readyReplicas: 0 }, pods: new Map([[0, unscheduled]]) }),
  'the StatefulSet is recreated': () =>
    ofHost({ counts: null }, { plan: { ...plan, isSetBeingRemoved: true } }),
  'the Service of the node is missing': () => {
    const facts = { ...generatorFacts, missingService: 'validators/geth' }
    return ofGenerator({}, { hold: generatorLogic.hold(generator, facts), isHeld: true })
  },
  'the node has to be near and is not known': () => {
    const service = { ...generator.spec.upstream.service, colocate: 'Required' }
    const near = withSpec(generator, { upstream: { service } })
    return ofGenerator({}, { hold: generatorLogic.hold(near, generatorFacts), isHeld: true }, near)
  },
  'a named Secret is missing': () => {
    const missing = { field: 'spec.x', name: 'x', key: 'y', hasSecret: false }
    return ofHost({}, { hold: missingSecretStatement(host, [missing]), isHeld: true })
  },
  'a step fails': () =>
    ofHost({}, { error: new ServiceError('OPERATOR_API_FAILED', 'no', { remedy: advice }) }),
  'what is there cannot be read': () => {
    const remedy = 'See the log of the API server.'
    const error = new ServiceError('OPERATOR_API_FAILED', 'no', { remedy })
    return ofHost({}, { error, isUnread: true })
  },
  'managed by an operator without a name as well': () => ofHost({}, { overlap: ['a/one', null] }),
  'managed by two operators': () => ofHost({}, { overlap: ['a/one', 'b/two'] }),
  'paused, and nothing waits': () => ofHost({}, { waiting: [] }),
  'paused, and nothing would be written, since an identity is not there': () =>
    ofHost({}, { waiting: [], identity: identityOf(fresh, own) }, own),
  'paused, and something waits': () => ofHost({}, { waiting: ['Service a changed'] }),
  'a newer template': () => ofHost({}, { plan: { ...plan, updateAvailable: ['spec.a'] } }),
  'the spec is refused': () => refused(422, 'image: Required value'),
  'the operator may not': () => refused(403, 'User "op" cannot patch resource "statefulsets"'),
  'a policy refuses it': () => refused(403, 'admission webhook "limits" denied the request: no'),
  'the quota is used up': () => refused(403, 'exceeded quota: none'),
  'a field cannot be changed': () => refused(422, 'field is immutable'),
  'a name is taken': () => ofHost({}, { problem: problemOf(nameTakenError('Service', 'a')) }),
  'the volume has another chain': () => ofHost({}, { problem: chainProblem(host, foreign) }),
  'a key was changed': () => identity({ key: 'other' }),
  'a key is gone': () => identity({ key: null }),
  'a keys claim is gone': () => identity({ claim: null }),
  'two replicas have one key': () => {
    const replica = { key: 'abc', claim: null, known: null }
    const found = planIdentity(
      two,
      [
        { ordinal: 0, ...replica },
        { ordinal: 1, ...replica },
      ],
      true,
    )
    return ofHost({}, { identity: found, problem: found.problem }, two)
  },
  'the keyring is not made yet': () =>
    ofHost({}, { identity: { generate: [0], problem: null, lack: null } }),
  'a Secret of one’s own': () => ofHost({}, {}, own),
  'it is missing': () => ofHost({}, { identity: identityOf(fresh, own, false) }, own),
  'it lacks a key': () => ofHost({}, { identity: identityOf(fresh, own) }, own),
  'another peer ID is said': () => {
    const status = { nodes: [{ ordinal: 0, peerID: 'before' }] }
    return ofHost(connectedTo([]), {}, { ...host, status })
  },
  'volumes are made': () => ofHost({ claims: [] }),
  'volumes grow': () => ofHost({ claims: claimSaying({ capacity: { storage: '1Mi' } }) }),
  'a file system waits': () => ofHost({ claims: claimSaying(resizing('FileSystemResizePending')) }),
  'the storage refuses': () => ofHost({ claims: claimSaying(resizing('ControllerResizeError')) }),
  'a volume fills': () =>
    ofHost(saying('host', { errors: [{ code: 'STORE_NEARLY_FULL', message: 'It fills.' }] })),
  'the class refuses': () =>
    // Its words are tested in apply-claims.test.ts, where they are made.
    ofHost({}, { refusedGrowth: { reason: 'ExpansionUnsupported', message: advice } }),
  'a load balancer without address': () => ofHost({ discovered: [[]] }, {}, p2p('LoadBalancer')),
  'a load balancer': () =>
    ofHost({ discovered: [['/ip4/203.0.113.9/tcp/9171']] }, {}, p2p('LoadBalancer')),
  'a private load balancer': () =>
    ofHost({ discovered: [['/ip4/10.0.0.9/tcp/9171']] }, {}, p2p('LoadBalancer')),
  'a load balancer with a name': () =>
    ofHost({ discovered: [['/dns4/lb.example.org/tcp/9171']] }, {}, p2p('LoadBalancer')),
  'a load balancer that does not lead to the replica': () =>
    ofHost(
      { discovered: [['/ip4/203.0.113.9/tcp/9171']], external: new Map([[0, 'nobody']]) },
      {},
      p2p('LoadBalancer'),
    ),
  'ports of machines': () => ofHost({}, {}, p2p('NodePort')),
  'the network of machines': () => {
    const on = withSpec(host, { podTemplate: { spec: { hostNetwork: true } } })
    return ofHost({ discovered: [['/ip4/203.0.113.9/tcp/9171']] }, {}, on)
  },
  'addresses of the spec': () => {
    const announce = ['/dns4/gen.example.org/tcp/9171']
    const given = withSpec(generator, { p2p: { ...generator.spec.p2p, announce } })
    return ofGenerator({}, {}, given)
  },
  'a start that comes too late': () => {
    const allClaims = boundClaims(generator).map((placed) => {
      const annotations = { 'viewmesh.io/start': '21' }
      return { ...placed, claim: { ...placed.claim, annotations } }
    })
    const template = generatorPodTemplate(generator, generatorContext)
    return ofGenerator({ allClaims, recorded: { inputs: '', template } })
  },
  'blocks over HTTP': () => ofGenerator(saying('generator', { upstream_mode: 'http' })),
  'no answer of the node': () => ofGenerator(failing('CHAIN_UNREACHABLE')),
  'a refused API key': () => ofGenerator(failing('CHAIN_UNAUTHORIZED')),
  'a method that the node lacks': () => ofGenerator(failing('CHAIN_METHOD_MISSING')),
  'answers of no use': () => ofGenerator(failing('CHAIN_RPC_ERROR')),
  'another chain': () => ofGenerator({ pods: new Map([[0, ended]]), views: new Map([[0, null]]) }),
  'peers are there': () => ofHost(connectedTo(['a']), {}, addressed),
  'one of them is another': () => ofHost(connectedTo(['a'], mismatch), {}, addressed),
  'the only one is another': () => ofHost(connectedTo([], mismatch), {}, addressed),
  'no peer is there': () => ofHost(connectedTo([]), {}, addressed),
  'the head of the node stands still': () =>
    ofGenerator(
      saying('generator', {
        upstream_mode: 'http',
        timestamp: '2026-01-02T03:05:05Z',
        source_head_since: '2026-01-02T03:04:05Z',
      }),
    ),
  'replicas store different chains': () => {
    const [one, another] = ['aa', 'bb'].map((byte) => ({ genesis: `0x${byte.repeat(32)}` }))
    const nodes = [one, another].map((chain, ordinal) => ({ ordinal, ...chain }))
    return ofHost({ views: new Map([[0, null]]) }, {}, { ...two, status: { nodes } })
  },
  'signers agree': () => ofHost(connectedTo(['a'], { trust: 'bootstrap' }), {}, addressed),
  'a key runs twice': () => {
    const err = { code: 'GENERATOR_KEY_RUNS_TWICE', message: 'It signs twice.' }
    const finishedAt = new Date(emptyState.observedMs)
    const message = JSON.stringify({ level: 'fatal', err })
    const pod = podWith(generator, {
      lastState: { terminated: { exitCode: 1, finishedAt, message } },
    })
    return ofGenerator({ pods: new Map([[0, pod]]) })
  },
  ...Object.fromEntries(
    Object.entries(observedCodes).map(([code, { condition }]) => [
      `a program says ${code}`,
      () => reporting(code, condition),
    ]),
  ),
  'no peer is named': () => ofHost(connectedTo([])),
  'no peer can be asked for': () => ofHost({}, {}, addressed),
  'the Generator is missing': () => ofHost(connectedTo([]), {}, referring),
  'the Generator is where nobody looks': () =>
    ofHost(connectedTo([]), { isWatched: false }, referring),
  'the Generator is of another chain': () => {
    const { namespace, name } = source
    const chain = { name: 'Ethereum', network: 'Other' }
    const metadata = { ...generator.metadata, namespace, name }
    return ofHost(
      connectedTo([]),
      { seen: [withSpec({ ...generator, metadata }, { chain })] },
      referring,
    )
  },
  'a schema of nobody': () => ofHost(withSchema('embedded')),
  'a schema of the Generator': () =>
    ofHost(withSchema('current'), { facts: { ...hostFacts, schemaSource: source } }, referring),
  'another schema': () =>
    ofHost(withSchema('different'), { facts: { ...hostFacts, schemaSource: source } }, referring),
  'no answer about the schema': () =>
    ofHost(withSchema('embedded'), { facts: { ...hostFacts, schemaSource: source } }, referring),
  'nobody to ask about the schema': () =>
    ofHost({}, { facts: { ...hostFacts, schemaSource: source } }, referring),
  'a refused schema key': () => {
    const errors = [{ code: 'HOST_SCHEMA_UNAUTHORIZED', message: 'no' }]
    const facts = { ...hostFacts, schemaSource: source }
    return ofHost(withSchema('embedded', { errors }), { facts }, referring)
  },
  'a schema that nobody allows': () =>
    ofHost({}, { facts: { ...hostFacts, isRefused: true, awaited: null } }, referring),
}
