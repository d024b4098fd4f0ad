import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ViewResource } from '../../../../operator/api.ts'
import type { RegistrationFinding } from '../../../../operator/reconcile/evaluate/registration.ts'
import type { HostSituation } from '../../../../operator/reconcile/evaluate/view-at-host.ts'
import type { ViewAtReplica } from '../../../../operator/reconcile/observe/view-at-replica.ts'
import {
  type ViewFindings,
  wantedViewStatus,
} from '../../../../operator/reconcile/status/view-status.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { plainDefinition, registration, viewWith } from '../../../support/resources/view-cases.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const view = viewWith('senders', { definition: plainDefinition }, namespace)
const id = `0x${'1'.repeat(64)}`
const address = `0x${'2'.repeat(40)}`
const read = { file: { name: `${id}.view`, bytes: '' }, id, address, type: 'Sender' }
const findings: ViewFindings = {
  ...{ read, wrong: null, situations: [], problem: null, error: null },
  ...{ isUnread: false, registration: null, waiting: null, overlap: null },
}
const live: ViewAtReplica = {
  ...{ id, state: 'live', name: 'Sender', type: 'Sender', message: null },
  ...{ rows: 7, lastBlock: 9 },
}

/** A Host of this name whose one replica says this. */
function situation(name: string, report: Partial<ViewAtReplica> | null = {}): HostSituation {
  return {
    host: { ...host, metadata: { ...host.metadata, name } },
    ...{ isRegistered: false, isForeign: false, isOutdated: false, isLeft: false, isAsked: true },
    reports: new Map([[0, report && { ...live, ...report }]]),
  }
}

const wanted = (more: Partial<ViewFindings>, of: ViewResource = view) =>
  wantedViewStatus(of, { ...findings, ...more })

function condition(type: string, ...given: Parameters<typeof wanted>) {
  const { status, reason, message } = wanted(...given).conditions.find(
    (one) => one.type === type,
  ) ?? { status: 'none' }
  return { status, reason, message }
}

/** The View as it is once this was written. */
function written(...given: Parameters<typeof wanted>): ViewResource {
  const { conditions, facts, figures } = wanted(...given)
  const dated = conditions.map((one) => ({ ...one, lastTransitionTime: '2026-01-01T00:00:00Z' }))
  const status = { ...facts, ...figures, conditions: dated }
  return { ...view, status: status as NonNullable<ViewResource['status']> }
}

describe('Served', () => {
  test('counts the replicas of all Hosts, and says what the worst of them have', () => {
    const situations = [
      situation('a'),
      situation('b', null),
      situation('c', { state: 'failed', message: 'trap' }),
      situation('d', { state: 'refused', message: 'full' }),
      situation('e', { state: 'quarantined', message: 'slow' }),
    ]
    const why = (name: string, state: string, text: string): string =>
      `Host ${name}: It has ${state} on replica 0: ${text}. See GET /api/v0/views of the Host.`
    assert.deepEqual(condition('Served', { situations }), {
      status: 'False',
      reason: 'Failing',
      message: `1 of 5 replicas of 5 Hosts serve it. ${why('c', 'failed', 'trap')} ${why('e', 'quarantined', 'slow')}`,
    })
  })

  test('names three Hosts at most', () => {
    const situations = ['a', 'b', 'c', 'd'].map((name) => situation(name, null))
    const { message = '' } = condition('Served', { situations })
    assert.deepEqual(
      [...message.matchAll(/Host (\w): /g)].map(([, name]) => name),
      ['a', 'b', 'c'],
    )
  })

  test('says which labels no Host has, or that there is no Host at all', () => {
    const labelled = viewWith(
      'labelled',
      { hostSelector: { matchLabels: { tier: 'public', zone: 'a' } } },
      namespace,
    )
    assert.match(
      condition('Served', {}, labelled).message ?? '',
      new RegExp(
        `^There is no Host with the labels tier=public, zone=a in namespace ${namespace}:`,
      ),
    )
    assert.match(
      condition('Served', {}).message ?? '',
      new RegExp(`^There is no Host in namespace ${namespace}:`),
    )
  })

  test('stays as it was, sums included, until every replica was asked', () => {
    const before = written({ situations: [situation('a')] })
    const asking = { ...situation('a', null), isAsked: false }
    const { facts, figures } = wanted({ situations: [asking] }, before)
    assert.deepEqual(condition('Served', { situations: [asking] }, before), {
      status: 'True',
      reason: 'AllServe',
      message: '1 of 1 replicas of 1 Host serve it.',
    })
    assert.deepEqual([facts['state'], facts['served']], ['live', '1/1'])
    assert.deepEqual(figures, {
      ...{ rows: 7, lastBlock: 9 },
      hosts: [{ name: 'a', state: 'live', served: '1/1', rows: 7, lastBlock: 9 }],
    })
    assert.equal(condition('Served', { situations: [asking] }).reason, 'Pending')
    const some = [situation('a'), { ...situation('b', null), isAsked: false }]
    assert.equal(condition('Served', { situations: some }, before).reason, 'AllServe')
  })
})

describe('Ready', () => {
  test('is true where the View is served, also under another name', () => {
    const reasonOf = (report: Partial<ViewAtReplica> | null) => {
      const { status, reason } = condition('Ready', { situations: [situation('a', report)] })
      return `${status} ${reason}`
    }
    assert.equal(reasonOf({}), 'True ViewServed')
    assert.equal(reasonOf({ name: 'Sender_1' }), 'True ViewServed')
    assert.equal(reasonOf(null), 'False NotServed')
  })

  test('says what is wrong with the definition before anything of Hosts', () => {
    const wrong = { reason: 'LensMissing', message: 'There is no ConfigMap lenses.' } as const
    const more = { read: null, wrong, situations: [situation('a')] }
    assert.deepEqual(condition('Ready', more), {
      ...{ status: 'False', reason: 'NotValidated', message: wrong.message },
    })
    assert.equal(condition('Served', more).reason, 'NotValidated')
  })
})

describe('a View that is to be registered', () => {
  const wantedView = viewWith('senders', { definition: plainDefinition, registration }, namespace)
  const creator = `0x${'3'.repeat(40)}`
  const finding: RegistrationFinding = {
    status: { state: 'Preparing', attempt: 0 },
    statement: { reason: 'Preparing', message: 'A Job asks.' },
    ...{ again: null, waiting: [] },
  }
  const known: ViewResource = {
    ...wantedView,
    status: { registration: { state: 'Prepared', attempt: 0, creator } },
  }
  const more = { registration: finding, situations: [situation('a')] }

  test('is on no Host before its ID is known, and has none until then', () => {
    assert.deepEqual(condition('Served', more, wantedView), {
      status: 'False',
      reason: 'NotPrepared',
      message: 'Hosts get it once its ID is known, which follows from who registers it.',
    })
    assert.equal(
      condition('Validated', more, wantedView).message,
      'Its ID follows from the address that registers it.',
    )
    const { facts } = wanted(more, wantedView)
    assert.deepEqual([facts['viewID'], facts['registration']], [undefined, finding.status])
    assert.equal(condition('Validated', more, known).message, `Its ID is ${id}.`)
    assert.equal(wanted(more, known).facts['viewID'], id)
  })

  test('that was served before stays so under its former ID', () => {
    const served: ViewResource = { ...wantedView, status: { viewID: id } }
    assert.equal(condition('Served', more, served).reason, 'AllServe')
    assert.equal(wanted(more, served).facts['viewID'], id)
  })

  test('is Ready once it is both served and registered', () => {
    const readyOf = (reason: RegistrationFinding['statement']['reason'], served = more) => {
      const statement = { reason, message: 'so it is' }
      const found = condition(
        'Ready',
        { ...served, registration: { ...finding, statement } },
        known,
      )
      return [found.status, found.reason, found.message]
    }
    assert.deepEqual(readyOf('Sending'), ['False', 'NotRegistered', 'so it is'])
    assert.deepEqual(readyOf('Registered').slice(0, 2), ['True', 'ViewServed'])
    const unserved = { ...more, situations: [situation('a', null)] }
    assert.deepEqual(readyOf('Sending', unserved).slice(0, 2), ['False', 'NotServed'])
    assert.equal(condition('Registered', more, known).reason, 'Preparing')
    assert.equal(condition('Registered', { situations: [] }).reason, undefined)
  })
})

describe('a View of which little is known', () => {
  test('keeps what was seen, and says why nothing else is', () => {
    const before = written({ situations: [situation('a')] })
    const stopped = (given: Partial<ViewFindings>) => {
      const { reason, message } = condition('Ready', given, before)
      return [reason, message, condition('Served', given, before).reason]
    }
    const error = new Error('no')
    const log = 'See the log of the operator, and report it.'
    assert.deepEqual(stopped({ error }), ['Pending', log, 'AllServe'])
    const what = `Nothing is known since: ${log}`
    assert.deepEqual(stopped({ error, isUnread: true }), ['Unread', what, 'AllServe'])
    const problem = { reason: 'QuotaExceeded', message: 'full' } as const
    assert.deepEqual(stopped({ problem }), ['Stalled', 'full', 'AllServe'])
    assert.equal(condition('Stalled', { problem }).reason, 'QuotaExceeded')
  })

  test('says that it waits while paused, and who else manages it', () => {
    assert.equal(condition('Paused', { waiting: ['ConfigMap a created'] }).reason, 'ChangesWaiting')
    assert.equal(condition('Paused', {}).reason, undefined)
    assert.equal(condition('Contested', { overlap: ['a', 'b'] }).reason, 'OperatorsOverlap')
    assert.equal(condition('Contested', {}).reason, undefined)
  })

  test('names its Hosts as one where it is one', () => {
    const two = [situation('a'), situation('b')]
    const messageOf = (situations: ViewFindings['situations']) =>
      condition('Served', { situations }).message
    assert.equal(messageOf(two.slice(1)), '1 of 1 replicas of 1 Host serve it.')
    assert.equal(messageOf(two), '2 of 2 replicas of 2 Hosts serve it.')
  })
})

describe('the sums of a View', () => {
  test('are the state furthest from live, the replicas that serve, and the lowest figures', () => {
    const situations = [
      situation('a', { rows: 5 }),
      situation('b', { state: 'backfilling', lastBlock: 3 }),
    ]
    const { facts, figures } = wanted({ situations })
    assert.deepEqual(figures, {})
    const { hosts, ...sums } = facts
    assert.deepEqual(sums, {
      ...{ observedGeneration: 1, viewID: id, address, type: 'Sender' },
      ...{ state: 'backfilling', served: '2/2', rows: 5, lastBlock: 3 },
    })
    assert.deepEqual(
      (hosts as { name: string }[]).map(({ name }) => name),
      ['a', 'b'],
    )
  })

  test('have 64 Hosts at most, and count the replicas of all', () => {
    const situations = Array.from({ length: 65 }, (_, index) => situation(`h${index}`))
    const { facts } = wanted({ situations })
    assert.equal((facts['hosts'] as unknown[]).length, 64)
    assert.equal(facts['served'], '65/65')
  })

  test('have no state without Hosts, and unknown goes before every other', () => {
    assert.equal(wanted({}).facts['state'], undefined)
    const situations = [situation('a', { state: 'refused' }), situation('b', null)]
    assert.equal(wanted({ situations }).facts['state'], 'unknown')
  })
})

describe('figures', () => {
  const before = written({ situations: [situation('a')] })
  const isPrompt = (report: Partial<ViewAtReplica>, of = before): boolean =>
    'rows' in wanted({ situations: [situation('a', report)] }, of).facts

  test('that alone moved are written once a minute', () => {
    assert.equal(isPrompt({ rows: 8, lastBlock: 10 }), false)
  })

  test('are written at once with a new Host, state, message or first figure', () => {
    assert.equal(isPrompt({}, view), true)
    assert.equal(isPrompt({ state: 'lagging' }), true)
    assert.equal(isPrompt({ name: 'Sender_1' }), true)
    const unbegun = written({ situations: [situation('a', { lastBlock: null })] })
    assert.equal(isPrompt({}, unbegun), true)
    const situations = [situation('a'), situation('b')]
    assert.equal('rows' in wanted({ situations }, before).facts, true)
    for (const figure of ['rows', 'lastBlock'] as const) {
      const one = written({ situations: [situation('a'), situation('b', { [figure]: null })] })
      assert.equal('rows' in wanted({ situations }, one).facts, true, figure)
    }
  })
})

describe('the IDs and the type', () => {
  const namesOf = (...given: Parameters<typeof wanted>) => {
    const { viewID, address: short, type } = wanted(...given).facts
    return { viewID, address: short, type }
  }

  test('stay while a lens is missing', () => {
    const before = written({ situations: [situation('a')] })
    const wrong = { reason: 'LensMissing', message: 'There is no ConfigMap lenses.' } as const
    assert.deepEqual(namesOf({ read: null, wrong }, before), {
      ...{ viewID: id, address, type: 'Sender' },
    })
    assert.deepEqual(namesOf({ read: null, wrong }), {
      ...{ viewID: undefined, address: undefined, type: undefined },
    })
  })

  test('of a View named by its ID are that ID, and the type that a Host says', () => {
    const named = (registryID: string) => viewWith('named', { registryID }, namespace)
    const situations = [situation('a', null), situation('b', { type: null }), situation('c')]
    assert.deepEqual(namesOf({ read: null, situations }, named(id)), {
      ...{ viewID: id, address: undefined, type: 'Sender' },
    })
    assert.deepEqual(condition('Validated', { read: null, situations }, named(id)), {
      status: 'True',
      reason: 'NamedByID',
      message: 'The Hosts find it on the registry chain by its ID.',
    })
    assert.equal(condition('Ready', { read: null, situations }, named(id)).reason, 'NotServed')
    assert.deepEqual(namesOf({ read: null }, named(address)), {
      ...{ viewID: undefined, address, type: undefined },
    })
  })
})
