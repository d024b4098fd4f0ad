/** What a Job that registers a View comes to: from its pods, which are read when it is asked for and not watched. */
import type { V1ContainerStateTerminated, V1Job, V1Pod } from '@kubernetes/client-node'
import { registrationTerms } from '../../../src/service/contract.ts'
import type { PreparedTransaction } from '../../api/view-status.ts'
import { fieldsOf, parseFields } from '../../resources/names/unchecked-json.ts'
import { toolkitName } from '../../resources/objects/registration-job.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { timeOf } from '../../runtime/client/micro-time.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { failedCreates } from './failed-create.ts'

/** Terms as a Job says them. */
interface PreparedTerms {
  readonly creator: string
  readonly chainID: number
  /** Null where the chain knew the View already. */
  readonly transaction: PreparedTransaction | null
}

/** How a registration ended. */
interface Registered {
  readonly height: number
  /** Hash of the transaction that did it; null where that is another one than was prepared. */
  readonly transaction: string | null
  readonly gasUsed: string | null
}

/** What the toolkit says of a failure; without a code where something else ended it. */
export interface JobFailure {
  readonly code: string | null
  readonly message: string
}

/** What the newest of its pods says; all null where none says anything. */
export interface RegistrationOutcome {
  readonly prepared: PreparedTerms | null
  readonly registered: Registered | null
  readonly failure: JobFailure | null
  /** Why there is no pod, or it does not run or ended silently, in the words of Kubernetes. */
  readonly obstacle: string | null
}

const maxText = 500

/** Reads the pods of a Job, and where there are none the Events that say why. */
export async function readRegistrationOutcome(
  api: Pick<KubernetesApi, 'list'>,
  { metadata }: V1Job,
  uid: string,
  signal: AbortSignal,
): Promise<RegistrationOutcome> {
  const namespace = metadata?.namespace
  const labelSelector = `batch.kubernetes.io/controller-uid=${uid}`
  const { items: found } = await api.list<KubernetesObject, KeptRun>(
    { type: builtinTypes.Pod, namespace, labelSelector },
    { keep: (pod) => keepRun(pod as V1Pod), signal },
  )
  // Labels anyone can write who may make pods; a controller takes no pod that is not its own.
  const items = found.filter(({ owners }) => owners.includes(uid))
  const newest = items.toSorted((a, b) => b.createdMs - a.createdMs)
  const said = newest.find(({ text }) => text !== null)?.text ?? null
  const outcome = said === null ? nothing : parseOutcome(said)
  if (items.length > 0) return { ...outcome, obstacle: newest[0]?.obstacle ?? null }
  const events = await failedCreates(api, namespace ?? '', uid, signal)
  return { ...outcome, obstacle: events.toSorted((a, b) => b.atMs - a.atMs)[0]?.note ?? null }
}

interface KeptRun {
  /** UIDs of the Jobs it is of. */
  readonly owners: readonly string[]
  readonly createdMs: number
  readonly text: string | null
  readonly obstacle: string | null
}

function keepRun({ metadata, status }: V1Pod): KeptRun {
  // A service mesh puts containers of its own beside it.
  const container = status?.containerStatuses?.find(({ name }) => name === toolkitName)
  const references = metadata?.ownerReferences ?? []
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const { reason, message } = container?.state?.waiting ?? {}
  const isStarting = reason === undefined || reason === 'ContainerCreating'
  const waiting = isStarting ? null : `${reason}: ${message ?? ''}`
  const unplaced = scheduled?.status === 'False' ? (scheduled.message ?? 'no machine fits') : null
  const { terminated } = container?.state ?? {}
  return {
    owners: references.filter(({ kind }) => kind === 'Job').map(({ uid }) => uid),
    createdMs: timeOf(metadata?.creationTimestamp) ?? 0,
    text: terminated?.message ?? null,
    obstacle:
      (waiting ?? unplaced ?? endOf(terminated))?.replaceAll(/\s+/g, ' ').slice(0, maxText) ?? null,
  }
}

/** How a container ended that says nothing, as one whose memory was not enough does. */
function endOf(terminated: V1ContainerStateTerminated | undefined): string | null {
  const { exitCode = 0, message, reason } = terminated ?? {}
  if (exitCode === 0 || message !== undefined) return null
  return `its container ended with exit code ${exitCode} (${reason ?? 'no reason'})`
}

const nothing = { prepared: null, registered: null, failure: null }

/** A container can write what it likes, so nothing is trusted to have its shape. */
export function parseOutcome(text: string): Omit<RegistrationOutcome, 'obstacle'> {
  const fields = parseFields(text)
  const { code, message } = fieldsOf(fields['error'])
  if (typeof message === 'string') {
    return { ...nothing, failure: { code: codeOf(code), message: message.slice(0, maxText) } }
  }
  const { kind, height, gasUsed, transaction } = fields
  const isOurs = kind === registrationTerms
  const prepared = isOurs ? preparedOf(fields) : null
  if (prepared !== null) return { ...nothing, prepared }
  if (isOurs && isCount(height)) {
    const registered = {
      height,
      transaction: isHex(transaction, 32) ? transaction : null,
      gasUsed: isAmount(gasUsed) ? gasUsed : null,
    }
    return { ...nothing, registered }
  }
  const last = text.split('\n').findLast((line) => line.trim() !== '') ?? 'it says nothing'
  return { ...nothing, failure: { code: null, message: last.slice(0, maxText) } }
}

function preparedOf(fields: Readonly<Record<string, unknown>>): PreparedTerms | null {
  const { creator, chainId, transaction } = fields
  if (!isHex(creator, 20) || !isCount(chainId) || chainId === 0) return null
  const base = { creator, chainID: chainId }
  if (transaction === null) return { ...base, transaction }
  const { hash, nonce, gas, maxFeePerGas, maxPriorityFeePerGas } = fieldsOf(transaction)
  const hasNumbers = isCount(nonce) && isAmount(gas)
  if (!isHex(hash, 32) || !hasNumbers) return null
  if (!isAmount(maxFeePerGas) || !isAmount(maxPriorityFeePerGas)) return null
  return { ...base, transaction: { hash, nonce, gas, maxFeePerGas, maxPriorityFeePerGas } }
}

function isHex(value: unknown, bytes: number): value is string {
  return typeof value === 'string' && new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`).test(value)
}

function isAmount(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,30}$/.test(value)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function codeOf(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Z_]{1,64}$/.test(value) ? value : null
}
