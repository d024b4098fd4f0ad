/** A View that is registered by Jobs, without a cluster and without a chain: what the Jobs say is what a test says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1ConfigMap } from '@kubernetes/client-node'
import type { ViewResource } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { registrationTerms } from '../../../src/service/contract.ts'
import { parseViewFile } from '../../../src/views/view-file.ts'
import { noSender, viewIDs } from '../../../src/views/view-id.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { plainDefinition, registration, viewWith } from '../../support/resources/view-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import {
  creator,
  failure,
  nameOf,
  registrationRoom,
  terms,
  transaction,
} from '../support/registration-room.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const { room, view, jobs, lastJob, end, prepare, ask, reported, state, said } =
  registrationRoom(namespace)
const { hash } = transaction
const outcome = { kind: registrationTerms, height: 12, transaction: hash, gasUsed: '90000' }

const keysOf = (name: string): string[] =>
  Object.keys(room.read<V1ConfigMap & KubernetesObject>('ConfigMap', name).binaryData ?? {})

/** What was applied to a ConfigMap last: the stand-in takes nothing away. */
function appliedTo(name: string): string[] {
  const path = `/configmaps/${name}`
  const applied = room.server.requests.findLast((request) => request.path.endsWith(path))
  const { binaryData = {} } = (applied?.body ?? {}) as V1ConfigMap
  return Object.keys(binaryData)
}

test('a first Job prepares the View, and no Host gets it before the ID is known', async () => {
  await room.put(host)
  await room.reconcile(host)
  await room.put(view)
  room.crowd(1_000)
  assert.deepEqual(await room.reconcile(view), { requeueAfterMs: 100, isTerminal: false })
  assert.deepEqual(await room.reconcile(view), { requeueAfterMs: 5_000, isTerminal: false })
  await room.reconcile(host)
  assert.equal(jobs().length, 1)
  assert.deepEqual([said('Registered'), said('Served')], ['False Preparing', 'False NotPrepared'])
  assert.equal(reported().viewID, undefined)
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
  assert.equal(reported().viewID, id)
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
  assert.deepEqual(state(), {
    ...{ state: 'Registered', attempt: 0, creator, chainID: 91_273_003, transaction },
    ...{ height: 12, gasUsed: '90000' },
  })
  assert.equal(said('Registered'), 'True Registered')
  room.crowd(100)
  assert.equal((await room.reconcile(view)).requeueAfterMs, 40_000, 'it waits for nothing')
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
  const id = reported().viewID
  await end('Failed', failure('TOOLKIT_NONCE_TAKEN'))
  assert.equal(said('Registered'), 'False NonceTaken')
  assert.deepEqual(state(), { state: 'Preparing', attempt: 1, creator, chainID: 91_273_003 })
  assert.ok(room.events.some((text) => /^RegistrationAgain It is prepared again/.test(text)))
  await room.reconcile(view)
  assert.equal(jobs().length, 3)
  assert.match(nameOf(lastJob()), /^senders-prepare-/)
  assert.equal(reported().viewID, id)
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

test('a View that is prepared again with another key keeps its signer until the key is back', async () => {
  await prepare()
  await room.reconcile(view)
  await end('Failed', failure('TOOLKIT_NONCE_TAKEN'))
  await room.reconcile(view)
  const other = `0x${'b'.repeat(40)}`
  await end('Complete', { ...terms, creator: other })
  const made = jobs().length
  await room.reconcile(view)
  assert.equal(said('Registered'), 'False SignerChanged')
  assert.match(
    room.condition(view, 'Registered')?.message ?? '',
    new RegExp(`that of ${other}\\. `),
  )
  assert.deepEqual([jobs().length, state().state, state().creator], [made, 'Preparing', creator])
  await ask()
  assert.ok(room.events.some((text) => /^RegistrationAgain It is prepared again: /.test(text)))
  await room.reconcile(view)
  await end('Complete', { ...terms, creator: creator.toLowerCase() })
  assert.equal(state().state, 'Prepared')
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

for (const [code, reason] of [
  ['TOOLKIT_REGISTRATION_REFUSED', 'Refused'],
  ['REGISTRY_REFUSED', 'Refused'],
  ['TOOLKIT_FEE_HIGH', 'FeeHigh'],
] as const)
  test(`after ${code} it is prepared again only where a person asks for it`, async () => {
    await prepare()
    await room.reconcile(view)
    await end('Failed', failure(code))
    await room.reconcile(view)
    assert.equal(said('Registered'), `False ${reason}`)
    assert.deepEqual([jobs().length, state().state], [2, 'Prepared'])
    await ask()
    assert.deepEqual([state().state, state().attempt], ['Preparing', 1])
  })

test('terms that nobody can sign any more are prepared again', async () => {
  await prepare()
  await room.reconcile(view)
  await end('Failed', failure('TOOLKIT_PREPARED_INVALID'))
  assert.deepEqual(state(), { state: 'Preparing', attempt: 1, creator, chainID: 91_273_003 })
})

for (const [who, other] of [
  ['somebody', null],
  ['another transaction', `0x${'c'.repeat(64)}`],
] as const)
  test(`a View that ${who} registered names no transaction of its own`, async () => {
    await prepare()
    await room.reconcile(view)
    await end('Complete', { ...outcome, transaction: other, gasUsed: null })
    assert.deepEqual(state(), {
      ...{ state: 'Registered', attempt: 0, creator, chainID: 91_273_003, height: 12 },
    })
    const { message } = room.condition(view, 'Registered') ?? {}
    assert.equal(message, 'The chain has it since block 12.')
  })

const change = async (more: object): Promise<void> => {
  await room.edit<ViewResource & KubernetesObject>('View', 'senders', (live) =>
    Object.assign(live, { spec: { ...live.spec, ...more } }),
  )
  await room.reconcile(view)
}

test('what was prepared for another chain than the spec names by now is prepared for that', async () => {
  await prepare()
  await room.reconcile(view)
  await change({ registration: { ...registration, chainId: 91_273_003 } })
  assert.equal(state().state, 'Prepared')
  await change({ registration: { ...registration, chainId: 5 } })
  assert.deepEqual(state(), { state: 'Preparing', attempt: 1, creator })
  const words = `It was prepared for chain 91273003, and registration.chainId is 5; transaction ${hash} may be there already.`
  const event = `RegistrationAgain It is prepared again, as another transaction: ${words}`
  assert.ok(room.events.includes(event))
  await room.reconcile(view)
  assert.match(nameOf(lastJob()), /^senders-prepare-/)
  await end('Complete', { ...terms, chainId: 5 })
  assert.deepEqual([state().state, state().chainID], ['Prepared', 5])
})

test('a paused View begins no attempt, whoever asks, until it goes on', async () => {
  await prepare()
  await room.reconcile(view)
  await change({ paused: true })
  await end('Failed', failure('TOOLKIT_REGISTRATION_REFUSED'))
  for (const _ of [1, 2]) await ask()
  assert.deepEqual([state().state, state().attempt], ['Prepared', 0])
  assert.match(room.condition(view, 'Paused')?.message ?? '', /Job senders-prepare-\w+ created/)
  await change({ registration: { ...registration, chainId: 5 } })
  assert.deepEqual([state().state, state().attempt], ['Prepared', 0])
  await change({ registration })
  await change({ paused: false })
  assert.deepEqual([state().state, state().attempt], ['Preparing', 1])
})

test('a paused View says which Job waits, and none is made', async () => {
  const paused = { ...view, spec: { ...view.spec, paused: true } }
  await room.put(paused)
  await room.reconcile(paused)
  assert.equal(jobs().length, 0)
  assert.match(room.condition(view, 'Paused')?.message ?? '', /Job senders-prepare-\w+ created/)
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
    for (const _ of [1, 2]) await room.reconcile(view)
    assert.deepEqual(
      room.events.filter((text) => text.startsWith('ViewRemainsOnChain')),
      [
        `ViewRemainsOnChain View senders ${words} on the registry chain; Hosts that follow the chain serve it.`,
      ],
    )
  })
