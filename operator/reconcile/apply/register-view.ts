/** Has a View registered by Jobs: makes the one that is due, and takes in what it says. */
import type { V1Job } from '@kubernetes/client-node'
import { registrationTerms } from '../../../src/service/contract.ts'
import type { ViewResource } from '../../api.ts'
import { type RegistrationStep, registrationJob } from '../../resources/objects/registration-job.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ReconcileRun } from '../../runtime/controller.ts'
import {
  afterJob,
  afterMove,
  noToolkit,
  type RegistrationFinding,
  registeredStatement,
  registrationOf,
  unchanged,
  underWay,
} from '../evaluate/registration.ts'
import { readRegistrationOutcome } from '../fetch/registration-outcome.ts'
import type { ReadView } from '../fetch/view-definition.ts'
import { recordEvent } from '../statements/record-event.ts'
import { isAskRequested } from '../statements/requested.ts'
import type { ReconcileParts } from './reconcile-parts.ts'

/** Null where nobody wants it registered. `read` is the View as its ConfigMap has it; null where it cannot be made. */
export async function registerView(
  parts: ReconcileParts<ViewResource>,
  view: ViewResource,
  read: ReadView | null,
  run: ReconcileRun,
): Promise<RegistrationFinding | null> {
  if (view.spec.registration === undefined) return null
  const current = registrationOf(view)
  if (current.state === 'Registered') {
    return { ...underWay(view), statement: registeredStatement(current) }
  }
  if (read === null) return unchanged(view, 'NotValidated', 'It is registered once it is valid.')
  const job = dueJob(parts, view, read)
  if (job === null) return noToolkit(view)
  const moved = afterMove(view)
  if (moved !== null) return goOn(parts, view, read, moved)
  const failure = parts.view.jobs.reflectorOf(view.metadata.namespace)?.unread() ?? null
  if (failure !== null) throw failure
  const { name = '', namespace = '' } = job.metadata ?? {}
  const kept = parts.view.jobs.get(namespace, name)?.value.value
  if (kept === undefined) {
    if (view.spec.paused) return underWay(view, [`Job ${name} created`])
    await parts.api.create(builtinTypes.Job, job as KubernetesObject, { signal: run.signal })
    run.log.info({ job: name }, 'job created')
    return underWay(view)
  }
  const outcome = await readRegistrationOutcome(parts.api, job, kept.uid, run.signal)
  const found = afterJob(view, { job: kept, name, outcome }, isAskRequested(view))
  return goOn(parts, view, read, found)
}

/** While paused no other Job is begun: the status stays, and says which one waits. */
function goOn(
  parts: ReconcileParts<ViewResource>,
  view: ViewResource,
  read: ReadView,
  found: RegistrationFinding,
): RegistrationFinding {
  const { again: note, statement, status } = found
  if (note === null) return found
  if (!view.spec.paused) {
    recordEvent(parts, view, { reason: 'RegistrationAgain', action: 'Register', note })
    return found
  }
  const next = { ...view, status: { ...view.status, registration: status } }
  const { name } = dueJob(parts, next, read)?.metadata ?? {}
  return unchanged(view, statement.reason, statement.message, [`Job ${name} created`])
}

/** The Job for the state that the status has; null without an image for it. */
function dueJob(
  { options: { defaults } }: ReconcileParts<ViewResource>,
  view: ViewResource,
  read: ReadView,
): V1Job | null {
  const { registration } = view.spec
  const { toolkitImage: image, imagePullSecrets: pullSecrets } = defaults
  if (registration === undefined || image === null) return null
  const { attempt } = registrationOf(view)
  const { name: file } = read.file
  const parts = { registration, file, attempt, image, pullSecrets }
  return registrationJob(view, stepOf(view, read), parts)
}

function stepOf(view: ViewResource, { id, address }: ReadView): RegistrationStep {
  const { state, creator, chainID: chainId, transaction = null } = registrationOf(view)
  if (state !== 'Prepared') return { step: 'prepare' }
  const terms = { kind: registrationTerms, id, address, creator, chainId, transaction }
  return { step: 'register', terms: JSON.stringify(terms) }
}
