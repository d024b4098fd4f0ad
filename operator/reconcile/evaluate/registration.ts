/**
 * How far a View is registered, from its status and the Job at work. What is sent is in the status before, and every
 * step may be repeated: the same terms are the same transaction, and the chain takes a View of one signer once.
 */
import type { ReasonOf } from '../../api/conditions.ts'
import type { ViewRegistrationStatus } from '../../api/view-status.ts'
import type { ViewResource } from '../../api.ts'
import type { JobFailure, RegistrationOutcome } from '../fetch/registration-outcome.ts'
import type { KeptJob } from '../observe/job.ts'
import type { Statement } from '../statements/problem.ts'
import { withoutStop } from '../statements/sentences.ts'

type Reason = ReasonOf<'Registered'>

export interface RegistrationFinding {
  readonly status: ViewRegistrationStatus
  readonly statement: Statement<Reason>
  /** Why it goes on with another Job than before, for an Event; null where it does not. */
  readonly again: string | null
  /** While paused: the Job that would be made. */
  readonly waiting: readonly string[]
}

const beginning: ViewRegistrationStatus = { state: 'Preparing', attempt: 0 }

/** As the status has it. */
export function registrationOf({ status }: ViewResource): ViewRegistrationStatus {
  return status?.registration ?? beginning
}

/** Whether the ID of a View is known: it follows from who registers it, which the first Job says. */
export function isSenderKnown({ spec, status }: ViewResource): boolean {
  return spec.registration === undefined || status?.registration?.creator !== undefined
}

/** Nothing new: as the status has it, with why that is so. */
export function unchanged(
  view: ViewResource,
  reason: Reason,
  message: string,
  waiting: readonly string[] = [],
): RegistrationFinding {
  return { status: registrationOf(view), statement: { reason, message }, again: null, waiting }
}

/** While the operator has no image for the Jobs. */
export function noToolkit(view: ViewResource): RegistrationFinding {
  const message =
    'The operator was given no image of the toolkit: set operands.toolkit, or global.imageRegistry, of its chart.'
  return unchanged(view, 'NoToolkit', message)
}

/** While no Job is done. */
export function underWay(view: ViewResource, waiting: readonly string[] = []): RegistrationFinding {
  const { state, transaction } = registrationOf(view)
  if (state === 'Preparing') {
    return unchanged(view, 'Preparing', 'A Job asks the chain for nonce and fees.', waiting)
  }
  const what =
    transaction === undefined
      ? 'The chain knows it already, and a Job waits until it is registered.'
      : `A Job sends transaction ${transaction.hash} with nonce ${transaction.nonce}.`
  return unchanged(view, 'Sending', what, waiting)
}

/** Once the chain has it. */
export function registeredStatement({
  height,
  transaction,
}: ViewRegistrationStatus): Statement<Reason> {
  const by = transaction === undefined ? '' : ` Its transaction is ${transaction.hash}.`
  return { reason: 'Registered', message: `The chain has it since block ${height}.${by}` }
}

/** What follows from the Job there is; `isAsked`: a person wants it tried again. */
export function afterJob(view: ViewResource, seen: SeenJob, isAsked: boolean): RegistrationFinding {
  const { job, name, outcome } = seen
  const { failure, obstacle } = outcome
  const done = job.state === 'complete' ? afterStep(view, seen, isAsked) : null
  if (done !== null) return done
  if (job.state === 'running') {
    return obstacle === null
      ? underWay(view)
      : unchanged(view, 'JobFailing', waitingText(view, name, obstacle))
  }
  const statement = failedStatement(view, seen)
  const repeat = { isAsked, isLost: isLostCode(failure) || isSilent(seen) }
  return again(view, failure, statement, repeat) ?? { ...underWay(view), statement }
}

/** Whether a Job did its step, and its pod went before it was read what that came to. */
function isSilent({ job, outcome: { prepared, registered, failure } }: SeenJob): boolean {
  return job.state === 'complete' && prepared === null && registered === null && failure === null
}

/** What follows from a Job that did its step; null where it does not say what this step has to. */
function afterStep(
  view: ViewResource,
  seen: SeenJob,
  isAsked: boolean,
): RegistrationFinding | null {
  const current = registrationOf(view)
  const { prepared, registered } = seen.outcome
  if (current.state === 'Preparing' && prepared !== null) {
    const { transaction, ...terms } = prepared
    const other = otherSigner(current, terms.creator)
    if (other !== null) {
      const outcome = { ...seen.outcome, failure: other }
      const statement = failedStatement(view, { ...seen, outcome })
      const { reason, message } = statement
      const repeat = { isAsked, isLost: false }
      return again(view, other, statement, repeat) ?? unchanged(view, reason, message)
    }
    const { state, attempt } = { ...current, state: 'Prepared' as const }
    const status = { state, attempt, ...terms, ...(transaction && { transaction }) }
    return { ...underWay({ ...view, status: { registration: status } }), status }
  }
  if (current.state === 'Prepared' && registered !== null) {
    const { height, gasUsed } = registered
    const { transaction, ...known } = current
    // Where another transaction did it, the one that was prepared came to nothing.
    const isOwn = transaction !== undefined && transaction.hash === registered.transaction
    const status = {
      ...{ ...known, state: 'Registered' as const, height },
      ...(isOwn && { transaction }),
      ...(gasUsed === null ? {} : { gasUsed }),
    }
    return { status, statement: registeredStatement(status), again: null, waiting: [] }
  }
  return null
}

/** The ID follows from who registers it, and Hosts have the View by it since the first Job said that. */
function otherSigner({ creator }: ViewRegistrationStatus, found: string): JobFailure | null {
  if (creator === undefined || creator.toLowerCase() === found.toLowerCase()) return null
  const message = `the View is of ${creator}, and the key is that of ${found}`
  return { code: 'TOOLKIT_SIGNER_CHANGED', message }
}

interface SeenJob {
  readonly job: KeptJob
  readonly name: string
  readonly outcome: RegistrationOutcome
}

/** Terms are for one chain: where the spec names another one by now, it is prepared for that. Null where it does not. */
export function afterMove(view: ViewResource): RegistrationFinding | null {
  const { state, attempt, creator, chainID, transaction } = registrationOf(view)
  const chainId = view.spec.registration?.chainId
  if (state !== 'Prepared' || chainId === undefined || chainId === chainID) return null
  const status = { state: 'Preparing' as const, attempt: attempt + 1, ...(creator && { creator }) }
  const sent = transaction && `; transaction ${transaction.hash} may be there already`
  const message = `It was prepared for chain ${chainID}, and registration.chainId is ${chainId}${sent ?? ''}.`
  const what = `It is prepared again, as another transaction: ${message}`
  return { status, statement: { reason: 'Preparing', message }, again: what, waiting: [] }
}

/** Failures after which what was prepared can never be in a block: its place is taken, or nobody signs it any more. */
const lostCodes: readonly (JobFailure['code'] | undefined)[] = [
  'TOOLKIT_NONCE_TAKEN',
  'TOOLKIT_PREPARED_INVALID',
]

function isLostCode(failure: JobFailure | null): boolean {
  return lostCodes.includes(failure?.code)
}

/** Those after which it may never be: a person who asks gets another transaction. The chain takes a View once. */
const finalCodes: typeof lostCodes = [
  ...lostCodes,
  'TOOLKIT_REGISTRATION_REFUSED',
  'TOOLKIT_FEE_HIGH',
  'REGISTRY_REFUSED',
]

/**
 * How often a Job is made again by itself. Each time another transaction is signed, and whoever runs the node can
 * say of every one that its place is taken.
 */
const maxAgain = 3

/** Another Job: at once where the terms are lost, or what became of them, a few times; else where a person asks for it. */
function again(
  view: ViewResource,
  failure: JobFailure | null,
  statement: Statement<Reason>,
  { isAsked, isLost }: { readonly isAsked: boolean; readonly isLost: boolean },
): RegistrationFinding | null {
  const current = registrationOf(view)
  const isByItself = isLost && current.attempt < maxAgain
  if (!isByItself && !isAsked) return null
  const attempt = current.attempt + 1
  const { creator, chainID } = current
  const isFinal = finalCodes.includes(failure?.code)
  const status: ViewRegistrationStatus = isFinal
    ? { state: 'Preparing', attempt, ...(creator && { creator }), ...(chainID && { chainID }) }
    : { ...current, attempt }
  const another = isFinal ? 'prepared again, as another transaction' : null
  const same = another ?? 'tried again, as the same transaction'
  const what = `It is ${current.state === 'Preparing' ? 'prepared again' : same}`
  return { status, statement, again: `${what}: ${statement.message}`, waiting: [] }
}

function waitingText(view: ViewResource, name: string, obstacle: string): string {
  const { namespace } = view.metadata
  const cause = withoutStop(obstacle)
  return `Job ${name} cannot do its work: ${cause}. ${jobRemedy(view, cause)} It then goes on by itself. See kubectl describe job ${name} -n ${namespace}`
}

function endedText(view: ViewResource, { job, name }: SeenJob, cause: string): string {
  const { namespace } = view.metadata
  const remedy =
    job.state === 'complete'
      ? 'That is no answer of the toolkit: see whether operands.toolkit of the operator’s chart names its image, of the version of the operator.'
      : jobRemedy(view, cause)
  return `Job ${name} came to nothing: ${cause}. ${remedy} While it is there, kubectl describe job ${name} -n ${namespace} has more. It is tried again ten minutes after its end, and at once with: ${retryLine(view)}`
}

function silentText(view: ViewResource, name: string): string {
  const what = `Job ${name} is done, and what it came to went with its pod.`
  if (registrationOf(view).attempt < maxAgain) return what
  return `${what} This is not the first time, so see what removes pods of the namespace as soon as they end. It is tried again ten minutes after its end, and at once with: ${retryLine(view)}`
}

/** What to do about a Job that Kubernetes keeps from its work. */
function jobRemedy({ metadata: { namespace } }: ViewResource, cause: string): string {
  if (/^(Err)?Image|^InvalidImage/.test(cause))
    return `Correct operands.toolkit of the operator’s chart, or create the Secrets of global.imagePullSecrets in namespace ${namespace}.`
  if (cause.includes('exceeded quota'))
    return `Raise that ResourceQuota of namespace ${namespace}, or free something.`
  if (cause === 'DeadlineExceeded')
    return `See in the Events of namespace ${namespace} whether its pod started, and whether pods may reach registration.rpcUrl.`
  return 'Remove that cause.'
}

function retryLine({ metadata: { namespace, name } }: ViewResource): string {
  return `kubectl annotate view ${name} -n ${namespace} --overwrite viewmesh.io/reconcile-at=again`
}

/** Those that say by themselves what to do. */
type RemediedReason = Extract<
  Reason,
  | 'SignerMissing'
  | 'SignerInvalid'
  | 'SignerChanged'
  | 'BalanceLow'
  | 'FeeHigh'
  | 'WrongChain'
  | 'Unreachable'
  | 'Refused'
  | 'NonceTaken'
  | 'NotMined'
>

const reasons: Readonly<Record<string, RemediedReason>> = {
  TOOLKIT_INPUT_UNREADABLE: 'SignerMissing',
  TOOLKIT_WALLET_INVALID: 'SignerInvalid',
  TOOLKIT_SIGNER_CHANGED: 'SignerChanged',
  TOOLKIT_BALANCE_LOW: 'BalanceLow',
  TOOLKIT_FEE_HIGH: 'FeeHigh',
  TOOLKIT_CHAIN_REFUSED: 'WrongChain',
  REGISTRY_UNREACHABLE: 'Unreachable',
  REGISTRY_ANSWER_MALFORMED: 'Unreachable',
  REGISTRY_REFUSED: 'Refused',
  TOOLKIT_REGISTRATION_REFUSED: 'Refused',
  TOOLKIT_REGISTRATION_TIMEOUT: 'NotMined',
  TOOLKIT_NONCE_TAKEN: 'NonceTaken',
}

/** The toolkit’s own advice names its flags, which nobody has here. */
function failedStatement(view: ViewResource, seen: SeenJob): Statement<Reason> {
  const { job, name, outcome } = seen
  const { failure, obstacle } = outcome
  if (isSilent(seen)) {
    return { reason: 'JobFailing', message: silentText(view, name) }
  }
  const reason = reasons[failure?.code ?? '']
  const what = withoutStop(
    failure?.message ?? obstacle ?? job.failure ?? 'it failed, and its pods say nothing',
  )
  if (reason === undefined) {
    return { reason: 'JobFailing', message: endedText(view, seen, what) }
  }
  return { reason, message: remedied(view, reason, what) }
}

function remedied(view: ViewResource, reason: RemediedReason, what: string): string {
  const { namespace } = view.metadata
  const { name: secret = '', key = '' } = view.spec.registration?.signerSecretRef ?? {}
  const retry = retryLine(view)
  const texts: Readonly<Record<RemediedReason, string>> = {
    SignerMissing: `There is no key ${key} in Secret ${secret}. Create it: kubectl create secret generic ${secret} -n ${namespace} --from-file=${key}=FILE`,
    SignerInvalid: `Key ${key} of Secret ${secret} is no private key. Put one there, as 64 hex digits.`,
    SignerChanged: `${what}. Put the first key back into Secret ${secret}, or create another View.`,
    BalanceLow: `${what}. Give that address coins.`,
    FeeHigh: `${what}. See whether registration.rpcUrl is right, or raise registration.maxFee.`,
    WrongChain: `${what}. Correct registration.rpcUrl, or name the chain in registration.chainId.`,
    Unreachable: `${what}. Correct registration.rpcUrl, or see whether pods of the namespace may reach it.`,
    Refused: `${what}. See to the cause, then have it tried again: ${retry}`,
    NonceTaken:
      registrationOf(view).attempt < maxAgain
        ? `${what}. Give each View a signer of its own where that happens often.`
        : `${what}. This is not the first time, so see whether registration.rpcUrl is right and what else the signer sends, then have it prepared again: ${retry}`,
    NotMined: `${what}. The same transaction is sent again ten minutes later; see at a node of the chain what becomes of nonce ${registrationOf(view).transaction?.nonce}.`,
  }
  return texts[reason]
}
