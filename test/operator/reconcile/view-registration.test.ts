/** A View that is registered by Jobs, without a cluster and without a chain: what the Jobs say is what a test says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1ConfigMap, V1Job } from '@kubernetes/client-node'
import type { ViewRegistrationStatus } from '../../../operator/api/view-status.ts'
import type { ViewResource } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { registrationTerms } from '../../../src/service/contract.ts'
import { parseViewFile } from '../../../src/views/view-file.ts'
import { noSender, viewIDs } from '../../../src/views/view-id.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { plainDefinition, registration, viewWith } from '../../support/resources/view-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const room = reconcileRoom(namespace)
const view = viewWith('senders', { definition: plainDefinition, registration }, namespace)
const creator = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const transaction = {
  hash: `0x${'a'.repeat(64)}`,
  ...{ nonce: 7, gas: '100000', maxFeePerGas: '2000', maxPriorityFeePerGas: '1000' },
}
const terms = { kind: registrationTerms, creator, chainId: 91_273_003, transaction }
const outcome = { kind: registrationTerms, height: 12, gasUsed: '90000' }

/** Jobs of the View that were created, in their order. */
function jobs(): (V1Job & KubernetesObject)[] {
  return room.server.requests
    .filter(({ method, path }) => method === 'POST' && path.endsWith('/jobs'))
    .map(({ body }) => body as V1Job & KubernetesObject)
}

const nameOf = (job: V1Job | undefined): string => job?.metadata?.name ?? ''
const lastJob = (): V1Job & KubernetesObject => jobs().at(-1) ?? assert.fail('there is no Job')

/** The newest Job comes to its end, and its pod says this. */
async function end(type: 'Complete' | 'Failed', said: object | string): Promise<void> {
  const job = lastJob()
  const message = typeof said === 'string' ? said : JSON.stringify(said)
  const terminated = { exitCode: type === 'Complete' ? 0 : 1, message }
  await room.put(podOf(job, { containerStatuses: [{ state: { terminated } }] }))
  await room.edit<V1Job & KubernetesObject>('Job', nameOf(job), (live) =>
    Object.assign(live, { status: { conditions: [{ type, status: 'True' }] } }),
  )
  await room.reconcile(view)
}

function podOf(job: V1Job, found: object): KubernetesObject {
  const name = nameOf(job)
  const labels = { ...job.spec?.template.metadata?.labels, 'batch.kubernetes.io/job-name': name }
  return { kind: 'Pod', metadata: { name: `${name}-x`, namespace, labels }, status: found } as never
}

const failure = (code: string): object => ({ error: { code, message: 'It is so', remedy: null } })
const found = (): NonNullable<ViewResource['status']> =>
  room.read<ViewResource & KubernetesObject>('View', 'senders').status ?? {}
const state = (): ViewRegistrationStatus => found().registration ?? assert.fail('nothing is said')
const said = (type: string): string => {
  const { status: value, reason } = room.condition(view, type) ?? {}
  return `${value} ${reason}`
}
const keysOf = (name: string): string[] =>
  Object.keys(room.read<V1ConfigMap & KubernetesObject>('ConfigMap', name).binaryData ?? {})

/** What was applied to a ConfigMap last: the stand-in takes nothing away. */
function appliedTo(name: string): string[] {
  const path = `/configmaps/${name}`
  const applied = room.server.requests.findLast((request) => request.path.endsWith(path))
  const { binaryData = {} } = (applied?.body ?? {}) as V1ConfigMap
  return Object.keys(binaryData)
}

/** The first Job has said its terms, and the status has them. */
async function prepare(): Promise<void> {
  await room.put(view)
  await room.reconcile(view)
  await end('Complete', terms)
}

test('a first Job prepares the View, and no Host gets it before the ID is known', async () => {
  await room.put(host)
  await room.reconcile(host)
  await room.put(view)
  await room.reconcile(view)
  await room.reconcile(host)
  assert.equal(jobs().length, 1)
  assert.deepEqual([said('Registered'), said('Served')], ['False Preparing', 'False NotPrepared'])
  assert.equal(found().viewID, undefined)
  assert.throws(() => room.read('ConfigMap', 'mainnet-host-views-0'))
})

test('terms enter the status before there is a Job that sends, which gets exactly these', async () => {
  await prepare()
  assert.equal(jobs().length, 1)
  assert.deepEqual(state(), {
    ...{ state: 'Prepared', attempt: 0, creator, chainID: 91_273_003, transaction },
  })
  await room.reconcile(view)
  assert.equal(jobs().length, 2)
  const { id, address } = idsOf(creator)
  const annotations = lastJob().spec?.template.metadata?.annotations ?? {}
  assert.deepEqual(JSON.parse(annotations['viewmesh.io/terms'] ?? ''), { ...terms, id, address })
  assert.equal(said('Registered'), 'False Sending')
  assert.equal(found().viewID, id)
  assert.deepEqual(appliedTo('senders-view'), [`${id}.view`])
})

/** The IDs of the View that this address registers. */
function idsOf(sender: string): ReturnType<typeof viewIDs> {
  const map = room.read<V1ConfigMap & KubernetesObject>('ConfigMap', 'senders-view')
  const [bytes = ''] = Object.values(map.binaryData ?? {})
  return viewIDs(sender, parseViewFile(Buffer.from(bytes, 'base64')).wire)
}

test('a registered View is done: no further Job, and Hosts have it by the ID of its signer', async () => {
  await room.put(host)
  await room.reconcile(host)
  await prepare()
  await room.reconcile(view)
  await end('Complete', outcome)
  const { state: last, height, gasUsed } = state()
  assert.deepEqual([last, height, gasUsed], ['Registered', 12, '90000'])
  assert.equal(said('Registered'), 'True Registered')
  await room.reconcile(host)
  assert.deepEqual(keysOf('mainnet-host-views-0'), [`${idsOf(creator).id}.view`])
  room.restart()
  await room.reconcile(view)
  assert.equal(jobs().length, 2)
})

test('a View that was served goes on under its old ID until the new one is known', async () => {
  const served = viewWith('senders', { definition: plainDefinition }, namespace)
  await room.put(host)
  await room.reconcile(host)
  await room.put(served)
  await room.reconcile(served)
  await room.reconcile(host)
  const before = keysOf('mainnet-host-views-0')
  assert.deepEqual(before, [`${idsOf(noSender).id}.view`])
  await room.edit<ViewResource & KubernetesObject>('View', 'senders', (live) =>
    Object.assign(live, { spec: { ...live.spec, registration } }),
  )
  await room.reconcile(view)
  await room.reconcile(host)
  assert.deepEqual(keysOf('mainnet-host-views-0'), before)
  await end('Complete', terms)
  await room.reconcile(host)
  assert.deepEqual(keysOf('mainnet-host-views-0'), before)
  await room.reconcile(view)
  await room.reconcile(host)
  assert.deepEqual(appliedTo('mainnet-host-views-0'), [`${idsOf(creator).id}.view`])
})

test('a View that the chain knows already is followed without a transaction', async () => {
  await room.put(view)
  await room.reconcile(view)
  await end('Complete', { ...terms, transaction: null })
  await room.reconcile(view)
  assert.equal(state().transaction, undefined)
  const text = lastJob().spec?.template.metadata?.annotations?.['viewmesh.io/terms'] ?? ''
  assert.equal(JSON.parse(text).transaction, null)
})

test('an operator that remembers nothing makes no second Job of either kind', async () => {
  await room.put(view)
  await room.reconcile(view)
  room.restart()
  await room.reconcile(view)
  assert.equal(jobs().length, 1)
  await end('Complete', terms)
  await room.reconcile(view)
  room.restart()
  await room.reconcile(view)
  assert.equal(jobs().length, 2)
})

test('a status that could not be written is found again in the Job, and nothing is sent', async () => {
  await room.put(view)
  await room.reconcile(view)
  room.server.faults.add(({ path }, response) => {
    if (!path.endsWith('/views/senders/status')) return false
    send(response, 503, status(503, 'ServiceUnavailable'))
    return true
  })
  await assert.rejects(end('Complete', terms))
  assert.equal(jobs().length, 1)
  room.server.faults.clear()
  room.restart()
  await room.reconcile(view)
  assert.equal(state().state, 'Prepared')
})

test('where another transaction took the nonce, the View is prepared again with the same ID', async () => {
  await prepare()
  await room.reconcile(view)
  const id = found().viewID
  await end('Failed', failure('TOOLKIT_NONCE_TAKEN'))
  assert.equal(said('Registered'), 'False NonceTaken')
  assert.deepEqual(state(), { state: 'Preparing', attempt: 1, creator, chainID: 91_273_003 })
  assert.ok(room.events.some((text) => /^RegistrationAgain It is prepared again/.test(text)))
  await room.reconcile(view)
  assert.equal(jobs().length, 3)
  assert.match(nameOf(lastJob()), /^senders-prepare-/)
  assert.equal(found().viewID, id)
})

test('what a node says of taken nonces has it prepared three times more, then a person is asked', async () => {
  await prepare()
  for (const attempt of [1, 2, 3]) {
    await room.reconcile(view)
    await end('Failed', failure('TOOLKIT_NONCE_TAKEN'))
    assert.deepEqual([state().state, state().attempt], ['Preparing', attempt])
    await room.reconcile(view)
    await end('Complete', terms)
  }
  await room.reconcile(view)
  await end('Failed', failure('TOOLKIT_NONCE_TAKEN'))
  const made = jobs().length
  await room.reconcile(view)
  assert.deepEqual([jobs().length, state().state, state().attempt], [made, 'Prepared', 3])
  assert.equal(said('Registered'), 'False NonceTaken')
  assert.match(room.condition(view, 'Registered')?.message ?? '', /reconcile-at=again$/)
  await ask()
  assert.deepEqual([state().state, state().attempt], ['Preparing', 4])
})

test('a lost receipt leaves the transaction, and a person who asks has the same one sent', async () => {
  await prepare()
  await room.reconcile(view)
  await end('Failed', failure('TOOLKIT_REGISTRATION_TIMEOUT'))
  assert.equal(said('Registered'), 'False NotMined')
  assert.equal(jobs().length, 2)
  await ask()
  assert.deepEqual(
    [state().state, state().transaction, state().attempt],
    ['Prepared', transaction, 1],
  )
  await room.reconcile(view)
  assert.equal(jobs().length, 3)
})

async function ask(): Promise<void> {
  await room.edit<ViewResource & KubernetesObject>('View', 'senders', (live) =>
    Object.assign(live.metadata, { annotations: { 'viewmesh.io/reconcile-at': 'again' } }),
  )
  await room.reconcile(view)
}

test('what the chain refused is prepared again only where a person asks for it', async () => {
  await prepare()
  await room.reconcile(view)
  await end('Failed', failure('TOOLKIT_REGISTRATION_REFUSED'))
  await room.reconcile(view)
  assert.equal(said('Registered'), 'False Refused')
  assert.deepEqual([jobs().length, state().state], [2, 'Prepared'])
  await ask()
  assert.deepEqual([state().state, state().attempt], ['Preparing', 1])
})

test('a Job that Kubernetes took away after its end is made again, with the same terms', async () => {
  await prepare()
  await room.reconcile(view)
  const name = nameOf(lastJob())
  await end('Failed', failure('REGISTRY_UNREACHABLE'))
  assert.equal(said('Registered'), 'False Unreachable')
  await room.remove('Job', name)
  await room.reconcile(view)
  assert.equal(nameOf(lastJob()), name)
  assert.equal(jobs().length, 3)
})

for (const [code, reason, words] of [
  ['TOOLKIT_INPUT_UNREADABLE', 'SignerMissing', /kubectl create secret generic deployer /],
  ['TOOLKIT_WALLET_INVALID', 'SignerInvalid', /64 hex digits\.$/],
  ['TOOLKIT_BALANCE_LOW', 'BalanceLow', /Give that address coins\.$/],
  ['TOOLKIT_FEE_HIGH', 'FeeHigh', /raise registration\.maxFee\.$/],
  ['TOOLKIT_CHAIN_REFUSED', 'WrongChain', /registration\.chainId\.$/],
  ['TOOLKIT_SIGNER_CHANGED', 'SignerChanged', /Secret deployer, or create another View\.$/],
] as const)
  test(`a Job that fails with ${code} is ${reason}, with what to do`, async () => {
    await room.put(view)
    await room.reconcile(view)
    await end('Failed', failure(code))
    assert.equal(said('Registered'), `False ${reason}`)
    assert.match(room.condition(view, 'Registered')?.message ?? '', words)
  })

test('a Job whose pods a quota refuses says so in the words of Kubernetes', async () => {
  await room.put(view)
  await room.reconcile(view)
  const { uid } = room.read<KubernetesObject>('Job', nameOf(lastJob())).metadata ?? {}
  room.server.faults.add(({ path, query }, response) => {
    const isMeant = path.endsWith('/events') && query['fieldSelector']?.includes(`${uid}`)
    if (isMeant !== true) return false
    const note = 'pods "x" is forbidden: exceeded quota: small'
    send(response, 200, { metadata: { resourceVersion: '1' }, items: [{ note }] })
    return true
  })
  await room.reconcile(view)
  assert.equal(said('Registered'), 'False JobFailing')
  assert.match(
    room.condition(view, 'Registered')?.message ?? '',
    /exceeded quota: small\. See kubectl/,
  )
})

test('a Job whose image cannot be pulled says so', async () => {
  await room.put(view)
  await room.reconcile(view)
  const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' }
  await room.put(podOf(lastJob(), { containerStatuses: [{ state: { waiting } }] }))
  await room.reconcile(view)
  assert.match(
    room.condition(view, 'Registered')?.message ?? '',
    /has no pod that runs: ImagePullBackOff: Back-off pulling image\. See kubectl describe job /,
  )
})

test('a Job that may not be made stalls the View until it may', async () => {
  await room.put(view)
  room.server.faults.add(({ method, path }, response) => {
    if (method !== 'POST' || !path.endsWith('/jobs')) return false
    send(response, 403, status(403, 'Forbidden', 'jobs.batch is forbidden: exceeded quota: small'))
    return true
  })
  await room.reconcile(view)
  assert.equal(said('Stalled'), 'True QuotaExceeded')
  room.server.faults.clear()
  await room.reconcile(view)
  assert.equal(said('Registered'), 'False Preparing')
})

test('a paused View says which Job waits, and none is made', async () => {
  const paused = { ...view, spec: { ...view.spec, paused: true } }
  await room.put(paused)
  await room.reconcile(paused)
  assert.equal(jobs().length, 0)
  assert.match(room.condition(view, 'Paused')?.message ?? '', /Job senders-prepare-\w+ created/)
})

test('what a container says that is no outcome of ours is no outcome', async () => {
  await room.put(view)
  await room.reconcile(view)
  await end('Complete', { ...terms, creator: 'nobody' })
  assert.deepEqual([said('Registered'), state().state], ['False JobFailing', 'Preparing'])
})

test('an Event says of a deleted View what stays on the chain, and of an unsent one nothing', async () => {
  await prepare()
  await room.reconcile(view)
  await end('Complete', outcome)
  await room.reconcile(view)
  await room.remove('View', 'senders')
  await room.put({ ...view, metadata: { ...view.metadata, uid: 'another' } } as KubernetesObject)
  await room.reconcile(view)
  assert.ok(room.events.some((text) => /^ViewRemainsOnChain View 0x\w{64} stays on/.test(text)))
  const other = viewWith('other', { definition: plainDefinition, registration }, namespace)
  await room.put(other)
  await room.reconcile(other)
  await room.remove('View', 'other')
  await room.reconcile(other)
  assert.equal(room.events.filter((text) => text.startsWith('ViewRemainsOnChain')).length, 1)
})

for (const [what, sent, words] of [
  ['names its transaction', transaction, `may come to be, by ${transaction.hash},`],
  ['names none where there is none', null, 'may come to be'],
] as const)
  test(`an Event of a View that is deleted before its ID is known ${what}`, async () => {
    await room.put(view)
    await room.reconcile(view)
    await end('Complete', { ...terms, transaction: sent })
    // Once more, so that what it has in its status by then is known, which has no ID yet.
    await room.edit<ViewResource & KubernetesObject>('View', 'senders', (live) =>
      Object.assign(live, { status: { ...live.status, viewID: undefined } }),
    )
    await room.reconcile(view)
    await room.remove('View', 'senders')
    await room.reconcile(view)
    assert.deepEqual(
      room.events.filter((text) => text.startsWith('ViewRemainsOnChain')),
      [
        `ViewRemainsOnChain View senders ${words} on the registry chain; Hosts that follow the chain serve it.`,
      ],
    )
  })
