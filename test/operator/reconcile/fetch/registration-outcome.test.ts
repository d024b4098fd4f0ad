import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventsV1Event, V1Pod, V1PodStatus } from '@kubernetes/client-node'
import fc from 'fast-check'
import {
  parseOutcome,
  type RegistrationOutcome,
  readRegistrationOutcome,
} from '../../../../operator/reconcile/fetch/registration-outcome.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { registrationTerms } from '../../../../src/service/contract.ts'

const terms = {
  kind: registrationTerms,
  creator: `0x${'a'.repeat(40)}`,
  chainId: 5,
  transaction: {
    hash: `0x${'b'.repeat(64)}`,
    ...{ nonce: 1, gas: '2', maxFeePerGas: '3', maxPriorityFeePerGas: '4' },
  },
}

/** A pod of Job `job`, made at this second. */
function podOf(second: number, status: V1PodStatus, owner: object = {}): V1Pod {
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'job', ...owner }]
  const creationTimestamp = `2026-01-01T00:00:0${second}Z` as unknown as Date
  return { metadata: { creationTimestamp, ownerReferences }, status }
}

/** Of the container of the toolkit, besides one of a service mesh. */
function container(state: object): V1PodStatus {
  const other = { image: '', imageID: '', ready: false, restartCount: 0 }
  const mesh = { ...other, name: 'istio-proxy', state: { terminated: { exitCode: 3 } } }
  return { containerStatuses: [mesh, { ...other, name: 'toolkit', state }] }
}

/** What is read where there are these pods and Events, of which the API server has no others. */
async function outcomeOf(
  pods: readonly V1Pod[],
  events: readonly EventsV1Event[] = [],
): Promise<RegistrationOutcome> {
  const api = {
    list: async (
      { type, namespace, ...selectors }: { type: { kind: string }; namespace: string },
      { keep }: { keep: (object: KubernetesObject) => unknown },
    ) => {
      assert.equal(namespace, 'apps')
      const isPods = type.kind === 'Pod'
      assert.deepEqual(
        selectors,
        isPods
          ? { labelSelector: 'batch.kubernetes.io/controller-uid=job' }
          : { fieldSelector: 'regarding.uid=job,reason=FailedCreate' },
      )
      return { items: ((isPods ? pods : events) as KubernetesObject[]).map(keep) }
    },
  }
  const { signal } = new AbortController()
  return await readRegistrationOutcome(
    api as never,
    { metadata: { namespace: 'apps' } },
    'job',
    signal,
  )
}

const saying = (message: string): V1PodStatus => container({ terminated: { exitCode: 1, message } })
const silent = { prepared: null, registered: null, failure: null }

test('the newest pod that says something is believed, and the obstacle is that of the newest', async () => {
  const waiting = { reason: 'ImagePullBackOff', message: 'Back-off\n  pulling' }
  const pods = [
    podOf(1, saying('first')),
    podOf(3, container({ waiting })),
    podOf(2, saying('next')),
  ]
  assert.deepEqual(await outcomeOf(pods), {
    ...silent,
    failure: { code: null, message: 'next' },
    obstacle: 'ImagePullBackOff: Back-off pulling',
  })
})

test('a pod that only has the label of the Job, or another owner of its UID, says nothing', async () => {
  const nobody = { ...silent, obstacle: null }
  assert.deepEqual(await outcomeOf([podOf(1, saying('no'), { uid: 'another' })]), nobody)
  assert.deepEqual(await outcomeOf([podOf(1, saying('no'), { kind: 'ReplicaSet' })]), nobody)
})

test('what keeps a pod from its work is distinguished from what passes', async () => {
  const obstacleOf = async (status: V1PodStatus): Promise<string | null> =>
    (await outcomeOf([podOf(1, status)], [{ note: 'of a pod before' } as EventsV1Event])).obstacle
  const scheduled = (status: string, message?: string): V1PodStatus => ({
    conditions: [
      { type: 'PodReadyToStartContainers', status: status === 'True' ? 'False' : 'True' },
      { type: 'PodScheduled', status, ...(message && { message }) },
    ],
  })
  assert.equal(await obstacleOf({}), null)
  assert.equal(await obstacleOf(container({ waiting: { reason: 'ContainerCreating' } })), null)
  assert.equal(await obstacleOf(container({ waiting: { reason: 'Odd' } })), 'Odd: ')
  assert.equal(await obstacleOf(scheduled('True', 'all is well')), null)
  assert.equal(await obstacleOf(scheduled('False', 'no cpu')), 'no cpu')
  assert.equal(await obstacleOf(scheduled('False')), 'no machine fits')
  const end = { exitCode: 137, reason: 'OOMKilled' }
  const what = 'its container ended with exit code 137'
  assert.equal(await obstacleOf(container({ terminated: end })), `${what} (OOMKilled)`)
  assert.equal(
    await obstacleOf(container({ terminated: { exitCode: 137 } })),
    `${what} (no reason)`,
  )
  assert.equal(await obstacleOf(container({ terminated: { exitCode: 0 } })), null)
  assert.equal(await obstacleOf(saying('why')), null)
  const message = 'x'.repeat(600)
  const long = await obstacleOf(container({ waiting: { reason: 'Odd', message } }))
  assert.equal(long?.length, 500)
})

test('where there is no pod the newest Event says why', async () => {
  const event = (second: number, note: string): EventsV1Event => ({
    note,
    eventTime: `2026-01-01T00:00:0${second}.000000Z` as unknown as EventsV1Event['eventTime'],
  })
  const events = [event(1, 'first'), event(3, 'last'), event(2, 'second')]
  assert.deepEqual(await outcomeOf([], events), { ...silent, obstacle: 'last' })
  assert.deepEqual(await outcomeOf([]), { ...silent, obstacle: null })
})

test('of a text without an outcome the last line is the failure, and an empty one says nothing', () => {
  const messageOf = (text: string): string | undefined => parseOutcome(text).failure?.message
  assert.equal(messageOf('first\nlast\n \n'), 'last')
  assert.equal(messageOf(' \n'), 'it says nothing')
  assert.equal(messageOf('x'.repeat(501))?.length, 500)
})

test('the code of a failure is in capitals, of 64 letters at most', () => {
  const codeOf = (code: unknown): string | null | undefined => {
    const { failure } = parseOutcome(JSON.stringify({ error: { code, message: 'It is so' } }))
    assert.equal(failure?.message, 'It is so')
    return failure.code
  }
  assert.equal(codeOf('A'.repeat(64)), 'A'.repeat(64))
  assert.equal(codeOf('A'.repeat(65)), null)
  assert.equal(codeOf('lower'), null)
  assert.equal(codeOf(7), null)
  assert.equal(codeOf(undefined), null)
})

test('whatever a container says is one outcome, of bounded texts', () => {
  const said = fc.oneof(
    fc.string({ maxLength: 4_096, size: 'max' }),
    fc.json(),
    fc
      .record({
        error: fc.record({
          code: fc.string(),
          message: fc.string({ maxLength: 4_096, size: 'max' }),
        }),
      })
      .map((value) => JSON.stringify(value)),
  )
  fc.assert(
    fc.property(said, (text) => {
      const { prepared, registered, failure } = parseOutcome(text)
      assert.equal([prepared, registered, failure].filter((one) => one !== null).length, 1)
      assert.ok((failure?.message.length ?? 0) <= 500)
    }),
  )
})

test('terms with any field of another shape are none', () => {
  const { transaction } = terms
  const { kind, chainId, ...rest } = terms
  const read = { ...rest, chainID: chainId }
  assert.deepEqual(parseOutcome(JSON.stringify(terms)).prepared, read)
  const withoutTransaction = parseOutcome(JSON.stringify({ ...terms, transaction: null })).prepared
  assert.deepEqual(withoutTransaction, { ...read, transaction: null })
  const wrong = [
    { ...terms, creator: `${terms.creator}00` },
    { ...terms, kind: 'viewmesh/registration-terms/2' },
    { ...terms, chainId: 0 },
    { ...terms, chainId: -1 },
    { ...terms, transaction: undefined },
    { ...terms, transaction: { ...transaction, hash: '0x' } },
    { ...terms, transaction: { ...transaction, nonce: 1.5 } },
    { ...terms, transaction: { ...transaction, gas: 2 } },
    { ...terms, transaction: { ...transaction, maxFeePerGas: '-3' } },
    { ...terms, transaction: { ...transaction, maxPriorityFeePerGas: '9'.repeat(31) } },
  ]
  for (const one of wrong) assert.equal(parseOutcome(JSON.stringify(one)).prepared, null)
})

test('an end is one of registration terms, or none', () => {
  const { hash } = terms.transaction
  const ended = { kind: registrationTerms, height: 12, transaction: hash, gasUsed: '90000' }
  const { kind, ...registered } = ended
  assert.deepEqual(parseOutcome(JSON.stringify(ended)).registered, registered)
  const foreign = parseOutcome(JSON.stringify({ ...ended, transaction: 'none' })).registered
  assert.deepEqual(foreign, { ...registered, transaction: null })
  const unpriced = parseOutcome(JSON.stringify({ ...ended, gasUsed: null })).registered
  assert.deepEqual(unpriced, { ...registered, gasUsed: null })
  assert.equal(parseOutcome(JSON.stringify({ ...ended, height: 0 })).registered?.height, 0)
  assert.equal(parseOutcome(JSON.stringify({ ...ended, height: -1 })).registered, null)
  assert.equal(parseOutcome(JSON.stringify({ ...ended, kind: undefined })).registered, null)
})
