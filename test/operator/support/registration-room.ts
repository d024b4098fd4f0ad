/** The room of a reconcile with a View that is registered by Jobs: what the Jobs come to is what a test says. */
import assert from 'node:assert/strict'
import type { V1Job } from '@kubernetes/client-node'
import type {
  PreparedTransaction,
  ViewRegistrationStatus,
} from '../../../operator/api/view-status.ts'
import type { ViewResource } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { registrationTerms } from '../../../src/service/contract.ts'
import { plainDefinition, registration, viewWith } from '../../support/resources/view-cases.ts'
import { reconcileRoom } from './reconcile-room.ts'

type Job = V1Job & KubernetesObject

export const creator = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
export const transaction: PreparedTransaction = {
  hash: `0x${'a'.repeat(64)}`,
  nonce: 7,
  gas: '100000',
  maxFeePerGas: '2000',
  maxPriorityFeePerGas: '1000',
}
/** What the first Job says. */
export const terms: object = { kind: registrationTerms, creator, chainId: 91_273_003, transaction }

/** What the toolkit says that fails. */
export const failure = (code: string): object => ({
  error: { code, message: 'It is so', remedy: null },
})

export const nameOf = (job: V1Job | undefined): string => job?.metadata?.name ?? ''

interface RegistrationRoom {
  readonly room: ReturnType<typeof reconcileRoom>
  /** View `senders`, which is to be registered; it is not in the cluster yet. */
  readonly view: ViewResource & KubernetesObject
  /** Jobs of the View that were created, in their order. */
  jobs(): Job[]
  lastJob(): Job
  /** A pod of the Job, or one that only has its label. */
  podOf(job: V1Job, found: object, isOwned?: boolean): KubernetesObject
  /** The newest Job comes to its end, and its pod says this. */
  end(type: 'Complete' | 'Failed', said: object | string): Promise<void>
  /** The first Job has said its terms, and the status has them. */
  prepare(): Promise<void>
  /** A person wants it tried again. */
  ask(): Promise<void>
  reported(): NonNullable<ViewResource['status']>
  state(): ViewRegistrationStatus
  /** Status and reason of a condition. */
  said(type: string): string
}

/** Everything in it belongs to the test that runs. */
export function registrationRoom(namespace: string): RegistrationRoom {
  const room = reconcileRoom(namespace)
  const view = viewWith('senders', { definition: plainDefinition, registration }, namespace)
  const jobs = (): Job[] =>
    room.server.requests
      .filter(({ method, path }) => method === 'POST' && path.endsWith('/jobs'))
      .map(({ body }) => body as Job)
  const lastJob = (): Job => jobs().at(-1) ?? assert.fail('there is no Job')
  const podOf = (job: V1Job, found: object, isOwned = true): KubernetesObject => {
    const name = nameOf(job)
    const { uid } = room.read<KubernetesObject>('Job', name).metadata ?? {}
    const jobLabels = { 'batch.kubernetes.io/controller-uid': uid }
    const labels = { ...job.spec?.template.metadata?.labels, ...jobLabels }
    const ownerReferences = isOwned ? [{ kind: 'Job', name, uid }] : []
    const metadata = { name: `${name}-x`, namespace, labels, ownerReferences }
    return { kind: 'Pod', metadata, status: found } as never
  }
  const end = async (type: 'Complete' | 'Failed', said: object | string): Promise<void> => {
    const job = lastJob()
    const message = typeof said === 'string' ? said : JSON.stringify(said)
    const terminated = { exitCode: type === 'Complete' ? 0 : 1, message }
    const sidecar = { name: 'istio-proxy', state: { terminated: { exitCode: 0, message: 'bye' } } }
    const containerStatuses = [sidecar, { name: 'toolkit', state: { terminated } }]
    await room.put(podOf(job, { containerStatuses }))
    await room.edit<Job>('Job', nameOf(job), (live) =>
      Object.assign(live, { status: { conditions: [{ type, status: 'True' }] } }),
    )
    await room.reconcile(view)
  }
  const reported = (): NonNullable<ViewResource['status']> =>
    room.read<ViewResource & KubernetesObject>('View', 'senders').status ?? {}
  return {
    ...{ room, view, jobs, lastJob, podOf, end, reported },
    prepare: async () => {
      await room.put(view)
      await room.reconcile(view)
      await end('Complete', terms)
    },
    ask: async () => {
      await room.edit<ViewResource & KubernetesObject>('View', 'senders', (live) =>
        Object.assign(live.metadata, { annotations: { 'viewmesh.io/reconcile-at': 'again' } }),
      )
      await room.reconcile(view)
    },
    state: () => reported().registration ?? assert.fail('nothing is said'),
    said: (type) => {
      const { status: value, reason } = room.condition(view, type) ?? {}
      return `${value} ${reason}`
    },
  }
}
