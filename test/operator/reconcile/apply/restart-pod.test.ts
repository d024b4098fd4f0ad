/** Which pod that began without its key is deleted, for its StatefulSet to create it again; and what hinders that. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import { restartKeyless } from '../../../../operator/reconcile/apply/restart-pod.ts'
import type { KeptPod } from '../../../../operator/reconcile/observe/pod.ts'
import { codeOf } from '../../../../src/errors.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { emptyState, podWith } from '../../support/operator-findings.ts'

const host = readHost('host-minimal')
const path = `/api/v1/namespaces/${host.metadata.namespace}/pods/mainnet-host-0`
const room = kubernetesRoom()

/** Ended half a minute before it is checked, since there was no key for it. */
const keyless: KeptPod = {
  ...podWith(host, {}),
  createdMs: emptyState.observedMs - 30_000,
  terminationMessage: {
    code: 'CONFIG_INVALID',
    message: 'DB_KEYRING_SECRET_FILE points to /keys/0, which is a directory',
    ...{ remedy: null, difference: null },
  },
}

interface Restarted {
  /** How it was forbidden. */
  readonly forbidden: unknown
  readonly deleted: boolean
  readonly notes: readonly string[]
}

/** Lets the pod be restarted where it is so, and where these replicas have keys. */
async function restart(
  pod: Partial<KeptPod> = {},
  keysOf: readonly number[] = [0],
): Promise<Restarted> {
  const notes: string[] = []
  const events = {
    record: (_: unknown, __: unknown, { note }: { note: string }) => notes.push(note),
  }
  const parts = { api: room.client.api, events } as unknown as ReconcileParts<Host>
  const fingerprints = new Map(keysOf.map((ordinal) => [ordinal, 'fingerprint']))
  const keyring = { exists: true, isOwned: false, createdMs: null, fingerprints }
  const state = { ...emptyState, pods: new Map([[0, { ...keyless, ...pod }]]) }
  const { log } = captureLog()
  const { signal } = new AbortController()
  const forbidden = await restartKeyless(parts, host, { state, keyring }, { signal, log } as never)
  return { forbidden, deleted: room.server.get(path) === undefined, notes }
}

function putPod(uid = 'pod'): void {
  room.server.put(path, { metadata: { name: 'mainnet-host-0', uid } } as never)
}

const left = { forbidden: null, deleted: false, notes: [] }

test('a pod that began before its key was there is deleted, and an Event says why', async () => {
  putPod()
  assert.deepEqual(await restart(), {
    forbidden: null,
    deleted: true,
    notes: [
      'Pod mainnet-host-0 is recreated, since it was created before its key was in the keyring Secret.',
    ],
  })
})

test('a pod is left alone that is young, terminating, still without a key, or failed otherwise', async () => {
  putPod()
  const said = keyless.terminationMessage
  const others: Partial<KeptPod>[] = [
    { createdMs: emptyState.observedMs - 29_999 },
    { createdMs: null },
    { isTerminating: true },
    { terminationMessage: null },
    { terminationMessage: said && { ...said, code: 'STORE_LOCKED' } },
    {
      terminationMessage: said && { ...said, message: 'DB_KEYRING_SECRET_FILE points to /keys/0' },
    },
    { terminationMessage: said && { ...said, message: 'HOST_VIEWS_DIR, which is a directory' } },
  ]
  for (const other of others) assert.deepEqual(await restart(other), left)
  assert.deepEqual(await restart({}, []), left)
  assert.deepEqual(await restart({}, [1]), left)
})

test('another pod of its name is left alone, and nothing is said of it', async () => {
  putPod('a later one')
  assert.deepEqual(await restart(), left)
})

test('that it may not be deleted is returned, and any other failure ends the reconcile', async () => {
  putPod()
  const failing = { code: 403 }
  room.server.faults.add(({ method }, response) => {
    if (method !== 'DELETE') return false
    send(response, failing.code, status(failing.code, 'Refused'))
    return true
  })
  const { forbidden, deleted, notes } = await restart()
  assert.deepEqual([codeOf(forbidden), deleted, notes], ['OPERATOR_API_FORBIDDEN', false, []])
  failing.code = 422
  await assert.rejects(restart())
})
