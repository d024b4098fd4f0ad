/** Situations of a View as data, which between them lead to every reason of its conditions. */
import type { Host, ViewResource } from '../../../operator/api.ts'
import {
  afterJob,
  noToolkit,
  type RegistrationFinding,
  registeredStatement,
  unchanged,
  underWay,
} from '../../../operator/reconcile/evaluate/registration.ts'
import type { HostSituation } from '../../../operator/reconcile/evaluate/view-at-host.ts'
import type { KeptJob } from '../../../operator/reconcile/observe/job.ts'
import type { ViewAtReplica } from '../../../operator/reconcile/observe/view-at-replica.ts'
import {
  type ViewFindings,
  wantedViewStatus,
} from '../../../operator/reconcile/status/view-status.ts'
import type { WantedCondition } from '../../../operator/runtime/status-writer.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { plainDefinition, registration, viewWith } from '../../support/resources/view-cases.ts'

type Conditions = readonly WantedCondition[]

const host = readHost('host-minimal')
const view = viewWith('senders', { definition: plainDefinition }, host.metadata.namespace)
const id = `0x${'1'.repeat(64)}`
const file = { name: `${id}.view`, bytes: '' }
const read = { file, id, address: `0x${'2'.repeat(40)}`, type: 'Sender' }
const registered = viewWith('registered', { registryID: id }, host.metadata.namespace)

const found: ViewFindings = {
  read,
  wrong: null,
  registration: null,
  situations: [],
  problem: null,
  error: null,
  isUnread: false,
  waiting: null,
  overlap: null,
}

function at(more: Partial<HostSituation>, of: ViewResource = view): Conditions {
  const situation: HostSituation = {
    host,
    isRegistered: of.spec.registryID !== undefined,
    isForeign: false,
    isOutdated: false,
    isLeft: false,
    isAsked: true,
    reports: new Map(),
    ...more,
  }
  return wantedViewStatus(of, { ...found, situations: [situation] }).conditions
}

/** What its one replica says. */
function saying(report: Partial<ViewAtReplica>): Conditions {
  const live = { id, state: 'live', name: 'Sender', type: 'Sender', rows: 1, lastBlock: 1 } as const
  return at({ reports: new Map([[0, { ...live, message: null, ...report }]]) })
}

const wrong = (
  reason: 'InvalidDefinition' | 'LensMissing' | 'LensMismatch' | 'TooLarge',
): Conditions =>
  wantedViewStatus(view, {
    ...found,
    read: null,
    wrong: { reason, message: 'It is wrong: write another one.' },
  }).conditions

const wanted = viewWith(
  'wanted',
  { definition: plainDefinition, registration },
  view.metadata.namespace,
)
const job: KeptJob = { uid: 'job', state: 'failed', failure: 'BackoffLimitExceeded' }
const silent = { prepared: null, registered: null, failure: null, obstacle: null }

function withRegistration(finding: RegistrationFinding): Conditions {
  return wantedViewStatus(wanted, { ...found, registration: finding }).conditions
}

/** Its Job failed, and said this code. */
function failing(code: string | null): Conditions {
  const outcome = { ...silent, failure: { code, message: 'It is so' } }
  return withRegistration(afterJob(wanted, { job, name: 'wanted-register-1', outcome }, false))
}

/** Its second Job is at work. */
function sending(): Conditions {
  const status = { registration: { state: 'Prepared', attempt: 0, creator: '0x1' } } as const
  return withRegistration(underWay({ ...wanted, status }))
}

/** The chain has it, and its Hosts serve it. */
function registeredAt(state: 'live' | 'waiting', reason: 'Registered' | 'Sending'): Conditions {
  const status = { state: 'Registered', attempt: 0, creator: '0x1', height: 5 } as const
  const of = { ...wanted, status: { registration: status, viewID: id } }
  const report = { id, state, name: 'Sender', type: 'Sender', rows: 1, lastBlock: 1, message: null }
  const statement = { ...registeredStatement(status), reason }
  const situations = [
    {
      ...{ host, isRegistered: false, isForeign: false, isOutdated: false, isLeft: false },
      ...{ isAsked: true, reports: new Map([[0, report]]) },
    },
  ]
  const registration = { status, statement, again: null, waiting: [] }
  return wantedViewStatus(of, { ...found, situations, registration }).conditions
}

const none: Host = { ...host, spec: { ...host.spec, replicas: 0 } }

/** By what is the case. */
export const viewSituations: Readonly<Record<string, () => Conditions>> = {
  'a View is served': () => saying({}),
  'a View has another name than its type': () => saying({ name: 'Sender_11111111' }),
  'a View is computed for the first time': () => saying({ state: 'waiting' }),
  'a View fails': () => saying({ state: 'failed', message: 'LENS_TIMEOUT: it took 5 s' }),
  'a View is refused': () =>
    saying({ state: 'refused', message: 'HOST_VIEWS_FULL: raise MAX_VIEWS' }),
  'a Host says that a View is foreign': () => saying({ state: 'foreign' }),
  'a replica does not know a View yet': () => at({ reports: new Map([[0, null]]) }),
  'a replica does not know a registered View': () =>
    at({ reports: new Map([[0, null]]) }, registered),
  'a replica does not answer': () => at({ reports: new Map([[0, undefined]]) }),
  'a View is of another chain': () => at({ isForeign: true }),
  'a Host of a View has no replicas': () => at({ host: none }),
  'pods know no Views': () => at({ isOutdated: true }),
  'there is no room for a View': () => at({ isLeft: true }),
  'a View selects no Host': () => wantedViewStatus(view, found).conditions,
  'a definition is invalid': () => wrong('InvalidDefinition'),
  'a lens is missing': () => wrong('LensMissing'),
  'a lens is another one': () => wrong('LensMismatch'),
  'a View is too large': () => wrong('TooLarge'),
  'a View is to be prepared': () => withRegistration(underWay(wanted)),
  'a View is sent': sending,
  'a View is registered': () => registeredAt('live', 'Registered'),
  'a View is served and not registered yet': () => registeredAt('live', 'Sending'),
  'a View to be registered is invalid': () =>
    withRegistration(unchanged(wanted, 'NotValidated', 'It is registered once it is valid.')),
  'there is no image of the toolkit': () => withRegistration(noToolkit(wanted)),
  'a Job fails by itself': () => failing(null),
  'the key of a signer is missing': () => failing('TOOLKIT_INPUT_UNREADABLE'),
  'the key of a signer is none': () => failing('TOOLKIT_WALLET_INVALID'),
  'the key of a signer changed': () => failing('TOOLKIT_SIGNER_CHANGED'),
  'a signer has too little': () => failing('TOOLKIT_BALANCE_LOW'),
  'a registration costs too much': () => failing('TOOLKIT_FEE_HIGH'),
  'a node is of another chain': () => failing('TOOLKIT_CHAIN_REFUSED'),
  'a registry chain does not answer': () => failing('REGISTRY_UNREACHABLE'),
  'a registry chain refuses a View': () => failing('TOOLKIT_REGISTRATION_REFUSED'),
  'a transaction is in no block': () => failing('TOOLKIT_REGISTRATION_TIMEOUT'),
  'another transaction was first': () => failing('TOOLKIT_NONCE_TAKEN'),
}
