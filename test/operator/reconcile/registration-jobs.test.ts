/** What is said of the Jobs that register a View where they do not do what they are for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Job } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { failure, nameOf, registrationRoom, terms } from '../support/registration-room.ts'

const { room, view, jobs, lastJob, podOf, end, prepare, state, said } = registrationRoom('apps')

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

test('a Job that is done, and whose pod went before it was read, is made again at once', async () => {
  await prepare()
  await room.reconcile(view)
  const complete = (live: V1Job): V1Job & KubernetesObject =>
    Object.assign(live, { status: { conditions: [{ type: 'Complete', status: 'True' }] } })
  for (const made of [2, 3, 4, 5]) {
    assert.equal(jobs().length, made)
    await room.edit<V1Job & KubernetesObject>('Job', nameOf(lastJob()), complete)
    await room.reconcile(view)
    await room.reconcile(view)
  }
  assert.equal(jobs().length, 5)
  assert.deepEqual([said('Registered'), state().state], ['False JobFailing', 'Prepared'])
  const terms = jobs().map(({ spec }) => JSON.stringify(spec?.template.spec?.volumes))
  assert.equal(new Set(terms.slice(1)).size, 1)
  assert.match(
    room.condition(view, 'Registered')?.message ?? '',
    /went with its pod\. This is not the first time, so see what removes pods .*reconcile-at=again$/,
  )
})

test('a Job that took too long says where to look, and how it is tried again at once', async () => {
  await room.put(view)
  await room.reconcile(view)
  const reason = 'DeadlineExceeded'
  await room.edit<V1Job & KubernetesObject>('Job', nameOf(lastJob()), (live) =>
    Object.assign(live, { status: { conditions: [{ type: 'Failed', status: 'True', reason }] } }),
  )
  await room.reconcile(view)
  assert.equal(said('Registered'), 'False JobFailing')
  const name = nameOf(lastJob())
  assert.equal(
    room.condition(view, 'Registered')?.message,
    `Job ${name} came to nothing: DeadlineExceeded. See in the Events of namespace apps whether its pod started, and whether pods may reach registration.rpcUrl. While it is there, kubectl describe job ${name} -n apps has more. It is tried again ten minutes after its end, and at once with: kubectl annotate view senders -n apps --overwrite viewmesh.io/reconcile-at=again`,
  )
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
    /exceeded quota: small\. Raise that ResourceQuota of namespace apps, or free something\. It then goes on by itself\. See kubectl/,
  )
})

test('a Job whose image cannot be pulled says so', async () => {
  await room.put(view)
  await room.reconcile(view)
  const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' }
  await room.put(podOf(lastJob(), { containerStatuses: [{ name: 'toolkit', state: { waiting } }] }))
  await room.reconcile(view)
  assert.match(
    room.condition(view, 'Registered')?.message ?? '',
    /cannot do its work: ImagePullBackOff: Back-off pulling image\. Correct operands\.toolkit .*\. It then goes on by itself\. See kubectl describe job /,
  )
})

test('a Job whose container ended silently says how it ended', async () => {
  await room.put(view)
  await room.reconcile(view)
  const terminated = { exitCode: 137, reason: 'OOMKilled' }
  const containerStatuses = [{ name: 'toolkit', state: { terminated } }]
  await room.put(podOf(lastJob(), { containerStatuses }))
  await room.reconcile(view)
  const cause = 'its container ended with exit code 137 \\(OOMKilled\\)'
  assert.match(
    room.condition(view, 'Registered')?.message ?? '',
    new RegExp(`cannot do its work: ${cause}\\. .* It then goes on by itself\\.`),
  )
  const failed = [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }]
  await room.edit<V1Job & KubernetesObject>('Job', nameOf(lastJob()), (live) =>
    Object.assign(live, { status: { conditions: failed } }),
  )
  await room.reconcile(view)
  assert.match(
    room.condition(view, 'Registered')?.message ?? '',
    new RegExp(`came to nothing: ${cause}\\.`),
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

test('a pod that has the label of a Job and is not of it says nothing', async () => {
  await room.put(view)
  await room.reconcile(view)
  const terminated = { exitCode: 0, message: JSON.stringify(terms) }
  const statuses = [{ name: 'toolkit', state: { terminated } }]
  await room.put(podOf(lastJob(), { containerStatuses: statuses }, false))
  await room.edit<V1Job & KubernetesObject>('Job', nameOf(lastJob()), (live) =>
    Object.assign(live, { status: { conditions: [{ type: 'Complete', status: 'True' }] } }),
  )
  await room.reconcile(view)
  assert.deepEqual([said('Registered'), state().state], ['False JobFailing', 'Preparing'])
})

test('what a container says that is no outcome of ours is no outcome', async () => {
  await room.put(view)
  await room.reconcile(view)
  await end('Complete', { ...terms, creator: 'nobody' })
  assert.deepEqual([said('Registered'), state().state], ['False JobFailing', 'Preparing'])
  assert.match(
    room.condition(view, 'Registered')?.message ?? '',
    /That is no answer of the toolkit: see whether operands\.toolkit /,
  )
})
