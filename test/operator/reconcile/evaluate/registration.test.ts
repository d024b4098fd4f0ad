/** What follows from the Job that registers a View, decided without a cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  PreparedTransaction,
  ViewRegistrationStatus,
} from '../../../../operator/api/view-status.ts'
import type { ViewResource } from '../../../../operator/api.ts'
import {
  afterJob,
  afterMove,
  isSenderKnown,
  noToolkit,
  type RegistrationFinding,
  registeredStatement,
  registrationOf,
  underWay,
} from '../../../../operator/reconcile/evaluate/registration.ts'
import type { RegistrationOutcome } from '../../../../operator/reconcile/fetch/registration-outcome.ts'
import type { KeptJob } from '../../../../operator/reconcile/observe/job.ts'
import { plainDefinition, registration, viewWith } from '../../../support/resources/view-cases.ts'

const [creator, other] = [`0x${'Aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]
const transaction: PreparedTransaction = {
  ...{ hash: '0xhash', nonce: 7, gas: '1', maxFeePerGas: '2', maxPriorityFeePerGas: '1' },
}
const known = { creator, chainID: 5 }
const preparing: ViewRegistrationStatus = { state: 'Preparing', attempt: 0 }
const prepared: ViewRegistrationStatus = { state: 'Prepared', attempt: 0, ...known, transaction }
const terms = { ...known, transaction }
const registered = { height: 12, transaction: transaction.hash, gasUsed: '90' }
const nothing: RegistrationOutcome = {
  ...{ prepared: null, registered: null, failure: null, obstacle: null },
}

function viewAt(status?: ViewRegistrationStatus, more: object = {}): ViewResource {
  const view = viewWith('senders', { definition: plainDefinition, registration }, 'apps')
  const spec = { ...view.spec, registration: { ...registration, ...more } }
  return { ...view, spec, ...(status && { status: { registration: status } }) }
}

interface Ended {
  readonly status?: ViewRegistrationStatus
  readonly job?: Partial<KeptJob>
  readonly said?: Partial<RegistrationOutcome>
  readonly isAsked?: boolean
}

/** What follows from a Job that is done, of a View with this in its status. */
function after({ status, job, said, isAsked = false }: Ended): RegistrationFinding {
  const seen: KeptJob = { uid: 'job', state: 'complete', failure: null, ...job }
  const outcome = { ...nothing, ...said }
  return afterJob(viewAt(status), { job: seen, name: 'senders-job', outcome }, isAsked)
}

const failing = (code: string | null, more: Partial<Ended> = {}): RegistrationFinding =>
  after({
    status: prepared,
    job: { state: 'failed', failure: 'BackoffLimitExceeded' },
    said: { failure: { code, message: 'It is so.' } },
    ...more,
  })

const retry = 'kubectl annotate view senders -n apps --overwrite viewmesh.io/reconcile-at=again'
const later = `It is tried again ten minutes after its end, and at once with: ${retry}`
const described = 'While it is there, kubectl describe job senders-job -n apps has more.'

test('a View that nobody began to register is being prepared, and its ID waits for its sender', () => {
  assert.deepEqual(registrationOf(viewAt()), preparing)
  assert.equal(isSenderKnown(viewAt()), false)
  assert.equal(isSenderKnown(viewAt(preparing)), false)
  assert.equal(isSenderKnown(viewAt(prepared)), true)
  assert.equal(isSenderKnown(viewWith('plain', { definition: plainDefinition }, 'apps')), true)
})

test('while a Job works, the condition says what it does and the status stays', () => {
  const { transaction: _, ...withoutTransaction } = prepared
  for (const [status, reason, message] of [
    [preparing, 'Preparing', 'A Job asks the chain for nonce and fees.'],
    [prepared, 'Sending', 'A Job sends transaction 0xhash with nonce 7.'],
    [
      withoutTransaction,
      'Sending',
      'The chain knows it already, and a Job waits until it is registered.',
    ],
  ] as const) {
    const finding = { status, statement: { reason, message }, again: null, waiting: [] }
    assert.deepEqual(underWay(viewAt(status)), finding)
    assert.deepEqual(after({ status, job: { state: 'running' } }), finding)
    assert.deepEqual(underWay(viewAt(status), ['Job a']), { ...finding, waiting: ['Job a'] })
  }
  assert.equal(noToolkit(viewAt(prepared)).statement.reason, 'NoToolkit')
  assert.deepEqual(noToolkit(viewAt(prepared)).status, prepared)
})

test('what a registered View says names block and transaction, where it was its own', () => {
  const status = { ...prepared, state: 'Registered', height: 12 } as const
  const { transaction: _, ...others } = status
  const message = 'The chain has it since block 12.'
  assert.deepEqual(registeredStatement(others), { reason: 'Registered', message })
  assert.equal(registeredStatement(status).message, `${message} Its transaction is 0xhash.`)
})

test('a Job that says what its step is for takes the View a step further', () => {
  assert.deepEqual(after({ status: { ...preparing, attempt: 2 }, said: { prepared: terms } }), {
    status: { ...prepared, attempt: 2 },
    statement: { reason: 'Sending', message: 'A Job sends transaction 0xhash with nonce 7.' },
    ...{ again: null, waiting: [] },
  })
  const { transaction: _, ...withoutTransaction } = prepared
  const found = after({ said: { prepared: { ...known, transaction: null } } })
  assert.deepEqual(found.status, withoutTransaction)
  const done = after({ status: prepared, said: { registered } })
  assert.deepEqual(done.status, { ...prepared, state: 'Registered', height: 12, gasUsed: '90' })
  assert.equal(done.statement.reason, 'Registered')
  const unmeasured = { ...registered, gasUsed: null }
  assert.equal(
    'gasUsed' in after({ status: prepared, said: { registered: unmeasured } }).status,
    false,
  )
})

test('a transaction stays only where it is the one that registered the View', () => {
  const { transaction: _, ...withoutTransaction } = prepared
  for (const [status, hash] of [
    [prepared, '0xother'],
    [prepared, null],
    [withoutTransaction, '0xhash'],
    [withoutTransaction, null],
  ] as const) {
    const found = after({ status, said: { registered: { ...registered, transaction: hash } } })
    assert.equal(found.status.transaction, undefined)
    assert.equal(found.statement.message, 'The chain has it since block 12.')
  }
})

test('what a Job says is taken only if it is done, and if that is what its step is for', () => {
  const cause = 'came to nothing: it failed, and its pods say nothing.'
  const remedy =
    'That is no answer of the toolkit: see whether operands.toolkit of the operator’s chart names its image, of the version of the operator.'
  const message = `Job senders-job ${cause} ${remedy} ${described} ${later}`
  for (const [status, said] of [
    [prepared, { prepared: terms }],
    [preparing, { registered }],
  ] as const) {
    assert.deepEqual(after({ status, said }), {
      status,
      statement: { reason: 'JobFailing', message },
      ...{ again: null, waiting: [] },
    })
    const running = after({ status, said, job: { state: 'running' } })
    assert.deepEqual(running, underWay(viewAt(status)))
  }
  for (const [status, said] of [
    [preparing, { prepared: terms }],
    [prepared, { registered }],
  ] as const) {
    const running = after({ status, said, job: { state: 'running' } })
    assert.deepEqual(running, underWay(viewAt(status)))
    assert.equal(after({ status, said, job: { state: 'failed' } }).status, status)
  }
  const failure = { code: null, message: 'Hello.' }
  assert.equal(
    after({ status: prepared, said: { failure } }).statement.message,
    `Job senders-job came to nothing: Hello. ${remedy} ${described} ${later}`,
  )
})

test('a Job that cannot work says what keeps it, and what to do about that', () => {
  const quota = 'Raise that ResourceQuota of namespace apps, or free something.'
  const image =
    'Correct operands.toolkit of the operator’s chart, or create the Secrets of global.imagePullSecrets in namespace apps.'
  for (const [obstacle, remedy] of [
    ['ImagePullBackOff: no', image],
    ['ErrImagePull: no', image],
    ['InvalidImageName: no', image],
    ['pods "a" is forbidden: exceeded quota: small.', quota],
    ['CreateContainerError: of an Image', 'Remove that cause.'],
  ] as const) {
    const cause = obstacle.replace(/\.$/, '')
    assert.deepEqual(after({ job: { state: 'running' }, said: { obstacle } }), {
      status: preparing,
      statement: {
        reason: 'JobFailing',
        message: `Job senders-job cannot do its work: ${cause}. ${remedy} It then goes on by itself. See kubectl describe job senders-job -n apps`,
      },
      ...{ again: null, waiting: [] },
    })
  }
})

test('a Job that failed without a code says why in the best words there are', () => {
  const job = { state: 'failed', failure: 'DeadlineExceeded' } as const
  const messageOf = (said: Partial<RegistrationOutcome>): string =>
    after({ status: prepared, job, said }).statement.message
  const rest = `Remove that cause. ${described} ${later}`
  const failure = { code: null, message: 'It broke.' }
  assert.equal(
    messageOf({ failure, obstacle: 'no machine' }),
    `Job senders-job came to nothing: It broke. ${rest}`,
  )
  assert.equal(
    messageOf({ obstacle: 'no machine' }),
    `Job senders-job came to nothing: no machine. ${rest}`,
  )
  assert.equal(
    messageOf({}),
    `Job senders-job came to nothing: DeadlineExceeded. See in the Events of namespace apps whether its pod started, and whether pods may reach registration.rpcUrl. ${described} ${later}`,
  )
})

test('a failure with a code says what to do about it, in words of the resource', () => {
  for (const [code, reason, message] of [
    [
      'TOOLKIT_INPUT_UNREADABLE',
      'SignerMissing',
      'There is no key private-key in Secret deployer. Create it: kubectl create secret generic deployer -n apps --from-file=private-key=FILE',
    ],
    [
      'TOOLKIT_WALLET_INVALID',
      'SignerInvalid',
      'Key private-key of Secret deployer is no private key. Put one there, as 64 hex digits.',
    ],
    [
      'REGISTRY_UNREACHABLE',
      'Unreachable',
      'It is so. Correct registration.rpcUrl, or see whether pods of the namespace may reach it.',
    ],
    [
      'REGISTRY_REFUSED',
      'Refused',
      `It is so. See to the cause, then have it tried again: ${retry}`,
    ],
    [
      'TOOLKIT_REGISTRATION_TIMEOUT',
      'NotMined',
      'It is so. The same transaction is sent again ten minutes later; see at a node of the chain what becomes of nonce 7.',
    ],
  ] as const) {
    assert.deepEqual(failing(code), {
      status: prepared,
      statement: { reason, message },
      ...{ again: null, waiting: [] },
    })
  }
  assert.equal(failing('SOMETHING_ELSE').statement.reason, 'JobFailing')
})

test('a Job whose pod went before it was read is made again by itself three times', () => {
  const what = 'Job senders-job is done, and what it came to went with its pod.'
  for (const [status, attempt, words] of [
    [preparing, 0, 'It is prepared again'],
    [prepared, 2, 'It is tried again, as the same transaction'],
  ] as const)
    assert.deepEqual(after({ status: { ...status, attempt } }), {
      status: { ...status, attempt: attempt + 1 },
      statement: { reason: 'JobFailing', message: what },
      ...{ again: `${words}: ${what}`, waiting: [] },
    })
  const last = { ...prepared, attempt: 3 }
  const message = `${what} This is not the first time, so see what removes pods of the namespace as soon as they end. ${later}`
  const statement = { reason: 'JobFailing', message } as const
  assert.deepEqual(after({ status: last }), { status: last, statement, again: null, waiting: [] })
  assert.equal(after({ status: last, isAsked: true }).status.attempt, 4)
  assert.equal(after({ job: { state: 'failed' } }).status.attempt, 0)
})

test('a transaction whose nonce is taken is prepared again three times, then a person is asked', () => {
  const first = 'It is so. Give each View a signer of its own where that happens often.'
  assert.deepEqual(failing('TOOLKIT_NONCE_TAKEN', { status: { ...prepared, attempt: 2 } }), {
    status: { ...preparing, attempt: 3, ...known },
    statement: { reason: 'NonceTaken', message: first },
    again: `It is prepared again, as another transaction: ${first}`,
    waiting: [],
  })
  const last = { ...prepared, attempt: 3 }
  assert.deepEqual(failing('TOOLKIT_NONCE_TAKEN', { status: last }), {
    status: last,
    statement: {
      reason: 'NonceTaken',
      message: `It is so. This is not the first time, so see whether registration.rpcUrl is right and what else the signer sends, then have it prepared again: ${retry}`,
    },
    ...{ again: null, waiting: [] },
  })
})

test('a person who asks has the same transaction sent, or another one where that never can be', () => {
  const same = failing('TOOLKIT_REGISTRATION_TIMEOUT', { isAsked: true })
  assert.deepEqual(same.status, { ...prepared, attempt: 1 })
  assert.match(same.again ?? '', /^It is tried again, as the same transaction: It is so\. /)
  for (const code of [
    'TOOLKIT_REGISTRATION_REFUSED',
    'TOOLKIT_FEE_HIGH',
    'REGISTRY_REFUSED',
  ] as const) {
    const another = failing(code, { isAsked: true })
    assert.deepEqual(another.status, { ...preparing, attempt: 1, ...known })
    assert.match(another.again ?? '', /^It is prepared again, as another transaction: It is so\. /)
    assert.equal(failing(code).again, null)
  }
  const unknown = failing('TOOLKIT_FEE_HIGH', { status: preparing, isAsked: true })
  assert.deepEqual(unknown.status, { ...preparing, attempt: 1 })
  assert.match(unknown.again ?? '', /^It is prepared again: It is so\. /)
})

test('the signer of a View that is prepared again stays the one it has, however it is written', () => {
  const again = { ...preparing, attempt: 1, creator }
  const said = (address: string) => ({ prepared: { ...terms, creator: address } })
  assert.equal(after({ status: again, said: said(creator.toLowerCase()) }).status.state, 'Prepared')
  const message = `the View is of ${creator}, and the key is that of ${other}. Put the first key back into Secret deployer, or create another View.`
  const statement = { reason: 'SignerChanged', message }
  assert.deepEqual(after({ status: again, said: said(other) }), {
    ...{ status: again, statement, again: null, waiting: [] },
  })
  assert.deepEqual(after({ status: again, said: said(other), isAsked: true }), {
    status: { ...again, attempt: 2 },
    ...{ statement, again: `It is prepared again: ${message}`, waiting: [] },
  })
})

test('what was prepared for another chain than the spec names is prepared again for that one', () => {
  assert.equal(afterMove(viewAt(prepared)), null)
  assert.equal(afterMove(viewAt(prepared, { chainId: 5 })), null)
  assert.equal(afterMove(viewAt(preparing, { chainId: 6 })), null)
  assert.equal(afterMove(viewAt({ ...prepared, state: 'Registered' }, { chainId: 6 })), null)
  const message = 'It was prepared for chain 5, and registration.chainId is 6'
  const sent = `${message}; transaction 0xhash may be there already.`
  assert.deepEqual(afterMove(viewAt(prepared, { chainId: 6 })), {
    status: { ...preparing, attempt: 1, creator },
    statement: { reason: 'Preparing', message: sent },
    again: `It is prepared again, as another transaction: ${sent}`,
    waiting: [],
  })
  const { transaction: _, ...withoutTransaction } = prepared
  assert.equal(
    afterMove(viewAt(withoutTransaction, { chainId: 6 }))?.statement.message,
    `${message}.`,
  )
})
