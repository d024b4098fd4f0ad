import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GeneratorStatus, NodeStatus } from '../../../../operator/api/status.ts'
import type { ObservedState } from '../../../../operator/reconcile/evaluate/observed-state.ts'
import { newlyMissingNote } from '../../../../operator/reconcile/fetch/named-secrets.ts'
import {
  type GeneratorFacts,
  generatorLogic,
} from '../../../../operator/reconcile/generator-logic.ts'
import { parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import type { Findings } from '../../../../operator/reconcile/status/findings.ts'
import {
  overlapStatement,
  pausedStatement,
  wantedStatus,
} from '../../../../operator/reconcile/status/resource-status.ts'
import type { WantedCondition, WantedStatus } from '../../../../operator/runtime/status-writer.ts'
import { ServiceError } from '../../../../src/errors.ts'
import { generatorContext, readGenerator } from '../../../support/resources/operator-cases.ts'
import {
  boundClaims,
  emptyState,
  foundFacts,
  podWith,
  readyCounts,
} from '../../support/operator-findings.ts'

const generator = readGenerator('generator-minimal')
const facts: GeneratorFacts = {
  executionNode: null,
  missingService: null,
  hiddenService: null,
  closedService: null,
  schemaKeysRenewed: null,
}
const options = { clusterDomain: 'cluster.local', defaults: generatorContext.defaults }

function conditionsOf(
  state: Partial<ObservedState>,
  findings: Partial<Findings<GeneratorFacts>> = {},
): Map<string, WantedCondition> {
  const { conditions } = wantedStatus(generatorLogic, { options }, generator, {
    findings: { ...foundFacts(facts), ...findings },
    state: { ...emptyState, ...state },
  })
  return new Map(conditions.map((condition) => [condition.type, condition]))
}

test('a Generator that ended because its node is on another chain says so of the node', () => {
  const message = JSON.stringify({
    level: 'fatal',
    err: { code: 'GENERATOR_CHAIN_CHANGED', message: 'Genesis changed.', remedy: 'Set a URL.' },
  })
  const ended = { exitCode: 1, message }
  const pod = podWith(generator, { lastState: { terminated: ended } })
  const crashing = { pods: new Map([[0, pod]]), views: new Map([[0, null]]) }
  assert.deepEqual(conditionsOf(crashing).get('UpstreamReachable'), {
    type: 'UpstreamReachable',
    status: 'False',
    reason: 'WrongChain',
    message:
      'Genesis changed (GENERATOR_CHAIN_CHANGED). Correct spec.upstream; or, to store the other chain from now on, kubectl delete pvc data-mainnet-generator-0 --wait=false, then kubectl delete pod mainnet-generator-0, and let Hosts that have the old chain fetch theirs again the same way.',
  })
  const view = parseHealth(
    '{"program":"generator","upstream_mode":"http","p2p":{"self":{"id":"a"}}}',
  )
  const answering = conditionsOf({ ...crashing, views: new Map([[0, view]]) })
  assert.equal(answering.get('UpstreamReachable')?.reason, 'HttpOnly')
})

test('a store is of another chain by its genesis block, not by its network or program', () => {
  const upstreamOf = (found: string, expected: string) => {
    const facts = { path: '/data', found, expected }
    const err = { code: 'STORE_FOREIGN', message: 'It belongs to another.', facts }
    const message = JSON.stringify({ level: 'fatal', err })
    const pod = podWith(generator, { lastState: { terminated: { exitCode: 1, message } } })
    const ended = { pods: new Map([[0, pod]]), views: new Map([[0, null]]) }
    return conditionsOf(ended).get('UpstreamReachable')
  }
  const genesis = upstreamOf(`0x${'a'.repeat(64)}`, `0x${'b'.repeat(64)}`)
  assert.equal(genesis?.reason, 'WrongChain')
  assert.match(genesis.message, /Correct spec\.upstream; or/)
  assert.equal(upstreamOf('Local__Devnet', 'Ethereum__Mainnet')?.reason, 'Unobserved')
  assert.equal(upstreamOf('host', 'generator')?.reason, 'Unobserved')
  assert.equal(upstreamOf(`0x${'a'.repeat(64)}`, 'none')?.reason, 'Unobserved')
})

test('a Generator that ended for another reason says nothing of its node', () => {
  const message = '{"level":"fatal","err":{"code":"IDENTITY_LOCKED","message":"no"}}'
  const pod = podWith(generator, { state: { terminated: { exitCode: 1, message } } })
  const found = conditionsOf({ pods: new Map([[0, pod]]), views: new Map([[0, null]]) })
  assert.equal(found.get('UpstreamReachable')?.reason, 'Unobserved')
})

test('a missing Secret is reported where no pod runs, where one waits, and where a change waits', () => {
  const hold = { reason: 'SecretMissing', message: 'Secret node does not exist.' } as const
  const saidWith = (readyReplicas: number, isHeld: boolean): WantedCondition | undefined => {
    const state = {
      set: {},
      counts: { ...readyCounts, readyReplicas },
      claims: boundClaims(generator),
    }
    return conditionsOf(state, { hold, isHeld }).get('Ready')
  }
  assert.equal(conditionsOf({}, { hold }).get('Ready')?.reason, 'SecretMissing')
  assert.equal(saidWith(0, false)?.reason, 'SecretMissing')
  assert.equal(saidWith(1, true)?.reason, 'SecretMissing')
})

test('running pods without one of their Secrets are Ready, with a message and one Event', () => {
  const hold = { reason: 'SecretMissing', message: 'Secret node does not exist.' } as const
  const running = { set: {}, counts: readyCounts, claims: boundClaims(generator) }
  const before = [...conditionsOf(running).values()]
  const after = [...conditionsOf(running, { hold }).values()]
  const { status, reason, message } = after.find(({ type }) => type === 'Ready') ?? {}
  assert.deepEqual(
    [status, reason, message],
    ['True', 'AllReady', '1 of 1 pods are ready. Secret node does not exist.'],
  )
  assert.equal(newlyMissingNote(before, after, hold), hold.message)
  assert.equal(newlyMissingNote(after, after, hold), null)
  assert.equal(newlyMissingNote(after, before, null), null)
  const rolling = { ...running, counts: { ...readyCounts, isRolling: true, updatedReplicas: 0 } }
  assert.equal(
    conditionsOf(rolling, { hold }).get('Ready')?.message,
    conditionsOf(rolling).get('Ready')?.message,
  )
  const unready = [...conditionsOf({}, { hold }).values()]
  assert.equal(newlyMissingNote(before, unready, hold), null)
})

test('of a resource that is paused before anything was made nothing is said to have been written', () => {
  const paused = { ...generator, spec: { ...generator.spec, paused: true } }
  const { conditions } = wantedStatus(generatorLogic, { options }, paused, {
    findings: { ...foundFacts(facts), waiting: ['StatefulSet mainnet-generator created'] },
    state: emptyState,
  })
  assert.deepEqual(
    conditions.filter(({ type }) => ['Ready', 'Reconciling', 'Paused'].includes(type)),
    [
      {
        type: 'Ready',
        status: 'False',
        reason: 'Paused',
        message: 'There is no StatefulSet, and none is made while spec.paused is true; see Paused.',
      },
      {
        type: 'Paused',
        status: 'True',
        reason: 'ChangesWaiting',
        message: '1 change waits: StatefulSet mainnet-generator created.',
      },
    ],
  )
})

test('a step that is tried again says what to do should it stay', () => {
  const error = new ServiceError('OPERATOR_API_FAILED', 'apply failed', { remedy: 'See its log.' })
  const settled = { counts: readyCounts }
  assert.equal(
    conditionsOf(settled, { error }).get('Reconciling')?.message,
    'apply failed. See its log.',
  )
  assert.equal(
    conditionsOf(settled, { error: new Error('ours') }).get('Reconciling')?.message,
    'A bug of the operator: see its log, and report it.',
  )
})

test('what was ready stays Ready while a step fails, in whatever order its conditions stand', () => {
  const condition = {
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    message: '',
  }
  const error = new ServiceError('OPERATOR_API_FAILED', 'apply failed', { remedy: 'See its log.' })
  const readyAfter = (status: 'True' | 'False', generation = 1): unknown => {
    const before = {
      ...generator,
      metadata: { ...generator.metadata, generation },
      status: {
        conditions: [
          { ...condition, type: 'Reconciling', status: 'False', reason: 'Succeeded' },
          { ...condition, type: 'Ready', status, reason: 'AllReady' },
          { ...condition, type: 'IdentityReady', status: 'True', reason: 'Kept' },
        ],
      } as unknown as GeneratorStatus,
    }
    const { conditions } = wantedStatus(generatorLogic, { options }, before, {
      findings: { ...foundFacts(facts), error },
      state: { ...emptyState, counts: readyCounts, claims: boundClaims(generator) },
    })
    return conditions.find(({ type }) => type === 'Ready')?.reason
  }
  assert.equal(readyAfter('True'), 'AllReady')
  assert.equal(readyAfter('False'), 'Pending')
  assert.equal(readyAfter('True', 2), 'Pending', 'of another spec')
})

test('while a replica was not asked yet, what replicas said before is kept, and nothing else', () => {
  const condition = {
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    status: 'True',
  }
  const before = {
    ...generator,
    status: {
      conditions: [
        { ...condition, type: 'Ready', reason: 'Former', message: 'former' },
        { ...condition, type: 'UpstreamReachable', reason: 'HttpOnly', message: 'kept' },
      ],
    } as unknown as GeneratorStatus,
  }
  const messagesWith = (view: null | undefined): unknown[] => {
    const { conditions } = wantedStatus(generatorLogic, { options }, before, {
      findings: foundFacts(facts),
      state: { ...emptyState, counts: readyCounts, views: new Map([[0, view]]) },
    })
    return conditions.map(({ message }) => message)
  }
  assert.ok(messagesWith(undefined).includes('kept'))
  assert.ok(!messagesWith(undefined).includes('former'))
  assert.ok(!messagesWith(null).includes('kept'), 'it was asked')
})

test('Ready does not say that a paused spec was applied', () => {
  const claims = boundClaims(generator)
  const settled = { counts: readyCounts, claims }
  const readyWhile = (waiting: readonly string[] | null): string | undefined => {
    const { status, reason } = conditionsOf(settled, { waiting }).get('Ready') ?? {}
    return `${status} ${reason}`
  }
  assert.equal(readyWhile(['StatefulSet a changed']), 'False Paused')
  assert.equal(readyWhile([]), 'True AllReady')
  assert.equal(readyWhile(null), 'True AllReady')
})

test('what waits while paused is counted in a message that fits', () => {
  const reported = (waiting: readonly string[]): string | undefined =>
    conditionsOf({}, { waiting }).get('Paused')?.message
  assert.equal(reported(['Secret a created']), '1 change waits: Secret a created.')
  assert.equal(reported(['Secret a created', 'b']), '2 changes wait: Secret a created; b.')
})

test('of many changes that wait eight are named, and of none it is said why', () => {
  const running = { problem: null, identity: null }
  const changes = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  assert.deepEqual(pausedStatement(running, changes), {
    reason: 'ChangesWaiting',
    message: '9 changes wait: a; b; c; d; e; f; g; h; and 1 more.',
  })
  assert.equal(
    pausedStatement(running, changes.slice(0, 8)).message,
    '8 changes wait: a; b; c; d; e; f; g; h.',
  )
  const none = (found: Parameters<typeof pausedStatement>[0]): string => {
    const { reason, message } = pausedStatement(found, [])
    assert.equal(reason, 'NothingWaiting')
    return message
  }
  const stopped = 'Nothing would be written now if it were resumed; Ready says why.'
  const plan = { generate: [], problem: null, lack: null }
  const lack = { reason: 'KeyMissing', message: 'no key' } as const
  assert.equal(none(running), 'The cluster is as the spec wants it.')
  assert.equal(none({ problem: null, identity: plan }), 'The cluster is as the spec wants it.')
  assert.equal(none({ problem: null, identity: { ...plan, lack } }), stopped)
  assert.equal(
    none({ problem: { reason: 'ChainMismatch', message: 'other' }, identity: null }),
    stopped,
  )
})

test('another operator at work is named, or what it may be where it has no name', () => {
  const remedy =
    'Uninstall one of the two, or have them watch different namespaces (scope of the chart).'
  assert.deepEqual(overlapStatement(['a', 'b']), {
    reason: 'OperatorsOverlap',
    message: `Operator b manages it as well; a goes on. ${remedy}`,
  })
  assert.equal(
    overlapStatement(['a', null]).message,
    `Something else writes this status as well, as an operator of an earlier version does that watches the namespace too; a goes on. ${remedy}`,
  )
  assert.equal(conditionsOf({}, { overlap: ['a', 'b'] }).get('Contested')?.status, 'True')
  assert.equal(conditionsOf({}).get('Contested'), undefined)
})

/** Reason and message of Ready and of IdentityReady, and whether something is said to go on. */
function saidOfKeys(findings: Partial<Findings<GeneratorFacts>>): readonly unknown[] {
  const found = conditionsOf({}, findings)
  const [ready, identity] = [found.get('Ready'), found.get('IdentityReady')]
  return [ready?.reason, identity?.reason, identity?.message, found.has('Reconciling')]
}

test('keys that are missing or wrong are what IdentityReady says before anything else', () => {
  const plan = { generate: [], problem: null, lack: null }
  const lack = { reason: 'KeyMissing', message: 'no key "0"' } as const
  assert.deepEqual(saidOfKeys({ identity: { ...plan, lack } }), [
    'IdentityNotReady',
    'KeyMissing',
    'no key "0"',
    true,
  ])
  const problem = { reason: 'IdentityConflict', message: 'another key' } as const
  assert.deepEqual(saidOfKeys({ identity: { ...plan, problem }, problem }), [
    'Stalled',
    'IdentityConflict',
    'another key',
    false,
  ])
  assert.deepEqual(saidOfKeys({ identity: { ...plan, generate: [0] } }), [
    'Pending',
    'KeyringPending',
    'Secret mainnet-generator-keyring has no key "0" yet; Ready says why.',
    true,
  ])
  assert.equal(saidOfKeys({ identity: plan })[1], 'KeyringGenerated')
  const other = { reason: 'ChainMismatch', message: 'other' } as const
  assert.equal(saidOfKeys({ problem: other })[1], undefined, 'the keys were not read')
  assert.equal(saidOfKeys({ problem: other, identity: plan })[1], 'KeyringGenerated')
})

test('a write that fails while the StatefulSet is recreated says that, and what was not written', () => {
  const error = new ServiceError('OPERATOR_API_FAILED', 'apply failed', { remedy: 'See its log.' })
  const messageOf = (state: Partial<ObservedState>): string | undefined =>
    conditionsOf(state, { error }).get('Ready')?.message
  const rest = 'could be written yet: apply failed. See its log.'
  assert.equal(messageOf({}), `Not all of this spec ${rest}`)
  assert.equal(
    messageOf({ isParked: true }),
    `The StatefulSet is being recreated, without its pods, for larger volumes. Not all of this spec ${rest}`,
  )
  const plan = { objects: [], isGrowing: true, isSetBeingRemoved: true, updateAvailable: null }
  assert.match(
    conditionsOf({}, { error, plan }).get('Ready')?.message ?? '',
    /^The StatefulSet is being recreated, without its pods, for larger volumes\. Not all/,
  )
  assert.equal(
    messageOf({ counts: readyCounts, claims: boundClaims(generator) }),
    `The pods are ready, but not all of this spec ${rest}`,
  )
})

test('a figure that begins or ends is written at once, one that changes once a minute', () => {
  const report = { program: 'generator', p2p: { self: { id: 'me' }, peers: [{ id: 'host' }] } }
  const wantedAfter = (status: GeneratorStatus, said: object): WantedStatus => {
    const view = parseHealth(JSON.stringify({ ...report, ...said }))
    const state = { ...emptyState, views: new Map([[0, view]]) }
    const findings = foundFacts(facts)
    return wantedStatus(generatorLogic, { options }, { ...generator, status }, { findings, state })
  }
  const nodes = wantedAfter({}, {}).facts['nodes'] as readonly NodeStatus[]
  const promptlyAfter = (before: GeneratorStatus, said: object): string[] => {
    const { facts: prompt, figures } = wantedAfter({ nodes, ...before }, said)
    const found = Object.keys(prompt).filter((name) =>
      ['head', 'lag', 'nodes', 'peers'].includes(name),
    )
    assert.equal(Object.keys(figures).length === 0, found.length > 0, 'they are in one of the two')
    return found
  }
  const before = { head: 6, lag: 1, peers: 2 }
  const after = { head: 7, lag: 0 }
  const all = ['nodes', 'head', 'lag', 'peers']
  assert.deepEqual(promptlyAfter(before, after), [])
  assert.deepEqual(promptlyAfter({ peers: 1 }, after), all)
  assert.deepEqual(promptlyAfter(before, { head: 7 }), ['nodes', 'head', 'peers'])
  assert.deepEqual(promptlyAfter({ ...before, peers: 0 }, after), all)
  const alone = { ...report.p2p, peers: [] }
  assert.deepEqual(promptlyAfter(before, { ...after, p2p: alone }), all)
})

test('of a keyring nothing is said of when it was made, since it may be an earlier resource’s', () => {
  const { message } = conditionsOf({}).get('IdentityReady') ?? {}
  assert.equal(
    message,
    'Secret mainnet-generator-keyring has the keys of all replicas: keep a copy of it.',
  )
})

test('a template that waits says in which fields it differs', () => {
  const messageOf = (updateAvailable: readonly string[]): string | undefined => {
    const plan = { objects: [], isGrowing: false, isSetBeingRemoved: false, updateAvailable }
    return conditionsOf({}, { plan }).get('UpdateAvailable')?.message
  }
  const advice =
    'Change the spec, or set the annotation viewmesh.io/roll-at to any new value, to replace them now.'
  const fields = ['spec.containers[generator].image', 'spec.volumes']
  assert.equal(
    messageOf(fields),
    `This operator would build the pods differently: spec.containers[generator].image, spec.volumes. ${advice}`,
  )
  assert.equal(messageOf([]), `This operator would build the pods differently. ${advice}`)
})
