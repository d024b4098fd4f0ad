import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { labels, records } from '../../../../operator/api/annotations.ts'
import { backupText } from '../../../../operator/plugin/identity/backup-file.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readGenerator, readHost } from '../../../support/resources/operator-cases.ts'
import { otherBackup } from '../../support/identity-backup.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { runPlugin } from '../../support/plugin-run.ts'

const room = kubernetesRoom()
const folder = '/api/v1/namespaces/apps'
const fingerprint = '0123456789abcdef'
const top = mkdtempSync(join(tmpdir(), 'viewmesh-claims-'))
after(() => rmSync(top, { recursive: true }))

interface PutClaim {
  readonly marks?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly phase?: string
  /** Of the volume, which may be larger than what is asked for. */
  readonly capacity?: string
  readonly deletionTimestamp?: string
  readonly creationTimestamp?: string
}

/** A claim as the operator labels it, of Host mainnet. */
function putClaim(
  name: string,
  { marks, annotations, phase, capacity, ...times }: PutClaim = {},
): void {
  const [holds = ''] = name.split('-')
  const mark = holds === 'keys' ? { [records.keyringFingerprint]: fingerprint } : {}
  room.server.put(`${folder}/persistentvolumeclaims/${name}`, {
    metadata: {
      labels: {
        [labels.name]: 'host',
        [labels.instance]: 'mainnet',
        [labels.holds]: holds,
        ...marks,
      },
      annotations: annotations ?? mark,
      ...times,
    },
    spec: { resources: { requests: { storage: '1Gi' } } },
    status: {
      phase: phase ?? 'Bound',
      ...(capacity === undefined ? {} : { capacity: { storage: capacity } }),
    },
  } as KubernetesObject)
}

function putHost(replicas: number, suspend = false): void {
  const host = readHost('host-minimal')
  const spec = { ...host.spec, replicas, suspend }
  room.server.put('/apis/viewmesh.io/v1alpha1/namespaces/apps/hosts/mainnet', {
    ...host,
    spec,
  } as KubernetesObject)
}

function putPod(name: string, claim: string, phase = 'Running'): void {
  const volumes = [
    { name: 'config', configMap: { name: 'config' } },
    { name: 'keys', persistentVolumeClaim: { claimName: claim } },
  ]
  const pod = { spec: { volumes, containers: [] }, status: { phase } }
  room.server.put(`${folder}/pods/${name}`, pod as KubernetesObject)
}

function putSet(replicas?: number): void {
  const set = { spec: { replicas } } as KubernetesObject
  room.server.put('/apis/apps/v1/namespaces/apps/statefulsets/mainnet-host', set)
}

const exists = (name: string): boolean =>
  room.server.get(`${folder}/persistentvolumeclaims/${name}`) !== undefined

/** Who uses a claim, as the list says. */
async function userOf(name: string): Promise<string> {
  const { stdout } = await runPlugin(room.client, ['claims'])
  const line = stdout.split('\n').find((one) => one.startsWith(`${name} `)) ?? ''
  return line.split(/ {3,}/)[2] ?? ''
}

test('claims are listed with who uses them and whether an identity is on them', async () => {
  putHost(1)
  putClaim('keys-mainnet-host-0')
  putClaim('data-mainnet-host-0', { capacity: '2Gi' })
  const creationTimestamp = new Date(Date.now() - 3 * 86_400_000).toISOString()
  putClaim('keys-mainnet-host-1', { creationTimestamp })
  putClaim('keys-mainnet-host-2', { annotations: {} })
  putClaim('keys-mainnet-host-3', { phase: 'Pending', annotations: {} })
  putClaim('data-mainnet-host-1', { deletionTimestamp: '2026-01-01T00:00:00Z' })
  putClaim('keys-strange', {})
  putClaim('cache-mainnet-host-0', {})
  putPod('mainnet-host-0', 'keys-mainnet-host-0')
  const { stdout } = await runPlugin(room.client, ['claims', 'host/mainnet'])
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    'CLAIM                 RESOURCE       USED BY              IDENTITY           SIZE   AGE',
    `keys-mainnet-host-0   host/mainnet   pod mainnet-host-0   ${fingerprint}   1Gi    -`,
    'data-mainnet-host-0   host/mainnet   Host mainnet         -                  2Gi    -',
    `keys-mainnet-host-1   host/mainnet   unused               ${fingerprint}   1Gi    3d`,
    'keys-mainnet-host-2   host/mainnet   unused               unknown            1Gi    -',
    'keys-mainnet-host-3   host/mainnet   unused               -                  1Gi    -',
    'data-mainnet-host-1   host/mainnet   terminating          -                  1Gi    -',
  ])
})

test('what mounts a claim uses it, whatever pod that is, until it has ended', async () => {
  putClaim('data-mainnet-host-0')
  assert.equal(await userOf('data-mainnet-host-0'), 'unused')
  putPod('reader', 'data-mainnet-host-0', 'Pending')
  assert.equal(await userOf('data-mainnet-host-0'), 'pod reader')
  putPod('reader', 'data-mainnet-host-0', 'Succeeded')
  assert.equal(await userOf('data-mainnet-host-0'), 'unused')
})

test('replicas of a resource use their claims while they do not run', async () => {
  putClaim('data-mainnet-host-1')
  putHost(2)
  assert.equal(await userOf('data-mainnet-host-1'), 'Host mainnet')
  putHost(2, true)
  assert.equal(await userOf('data-mainnet-host-1'), 'Host mainnet')
  putHost(1)
  assert.equal(await userOf('data-mainnet-host-1'), 'unused')
})

test('a resource uses no claims of another kind or of another name', async () => {
  putClaim('data-mainnet-host-0')
  putSet(1)
  const other = readHost('host-minimal')
  const metadata = { ...other.metadata, name: 'another' }
  const path = '/apis/viewmesh.io/v1alpha1/namespaces/apps'
  room.server.put(`${path}/hosts/another`, { ...other, metadata } as KubernetesObject)
  const generator = readGenerator('generator-minimal')
  const spec = { ...generator.spec, replicas: 0 }
  room.server.put(`${path}/generators/mainnet`, { ...generator, spec } as KubernetesObject)
  assert.equal(await userOf('data-mainnet-host-0'), 'StatefulSet mainnet-host')
})

test('a StatefulSet of a chart without a resource uses its claims, all of them while it is at 0', async () => {
  putClaim('data-mainnet-host-1')
  putSet(2)
  assert.equal(await userOf('data-mainnet-host-1'), 'StatefulSet mainnet-host')
  putSet(1)
  assert.equal(await userOf('data-mainnet-host-1'), 'unused')
  putSet(0)
  assert.equal(await userOf('data-mainnet-host-1'), 'StatefulSet mainnet-host')
})

test('claims of a Generator are its own, and no other StatefulSet uses them', async () => {
  putClaim('data-mainnet-generator-0', { marks: { [labels.name]: 'generator' } })
  putClaim('data-mainnet-host-0')
  const set = { spec: { replicas: 2 } } as KubernetesObject
  const path = '/apis/apps/v1/namespaces/apps/statefulsets'
  room.server.put(`${path}/another-generator`, set)
  const { stdout } = await runPlugin(room.client, ['claims', 'generator/mainnet'])
  assert.match(stdout, /^data-mainnet-generator-0 +generator\/mainnet +unused /m)
  assert.doesNotMatch(stdout, /host/, 'a Host of this name has others')
  room.server.put(`${path}/mainnet-generator`, set)
  assert.equal(await userOf('data-mainnet-generator-0'), 'StatefulSet mainnet-generator')
})

test('a StatefulSet that says no number of replicas has one', async () => {
  for (const name of ['data-mainnet-host-0', 'data-mainnet-host-1']) putClaim(name)
  putSet()
  assert.equal(await userOf('data-mainnet-host-0'), 'StatefulSet mainnet-host')
  assert.equal(await userOf('data-mainnet-host-1'), 'unused')
})

test('unused claims of a resource are deleted, those with an identity kept and reported', async () => {
  putHost(1)
  for (const name of ['keys-mainnet-host-0', 'data-mainnet-host-0']) putClaim(name)
  for (const name of ['keys-mainnet-host-1', 'data-mainnet-host-1']) putClaim(name)
  const { code, stdout, stderr } = await runPlugin(room.client, [
    'claims',
    'delete',
    'host/mainnet',
  ])
  assert.deepEqual([code, stdout], [0, 'claim data-mainnet-host-1 is deleted\n'])
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    'claim keys-mainnet-host-0 is kept: Host mainnet uses it',
    'claim data-mainnet-host-0 is kept: Host mainnet uses it',
    'claim keys-mainnet-host-1 is kept: it holds an identity, which cannot be made again',
  ])
  assert.ok(!exists('data-mainnet-host-1') && exists('keys-mainnet-host-1'))
})

test('a claim that is named and used stops everything before the first is deleted', async () => {
  putHost(1)
  for (const name of ['data-mainnet-host-1', 'data-mainnet-host-0']) putClaim(name)
  const targets = ['data-mainnet-host-1', 'data-mainnet-host-0']
  const { code, stderr } = await runPlugin(room.client, ['claims', 'delete', ...targets])
  assert.equal(code, 2)
  assert.match(
    stderr,
    /claim data-mainnet-host-0 is kept: Host mainnet uses it \(PLUGIN_CLAIM_KEPT\)/,
  )
  assert.ok(exists('data-mainnet-host-1'))
})

test('an identity goes only by its own name, and not by that of another claim', async () => {
  const [first, second] = ['keys-mainnet-host-1', 'keys-mainnet-host-2']
  putClaim(first)
  putClaim(second)
  const wrong = ['claims', 'delete', first, '--yes-delete-identity', second]
  const refused = await runPlugin(room.client, wrong)
  assert.equal(refused.code, 2)
  assert.match(
    refused.stderr,
    /while the host exists\), or give the identity up with --yes-delete-identity keys-mainnet-host-1/,
  )
  const right = ['claims', 'delete', first, '--yes-delete-identity', first]
  assert.equal((await runPlugin(room.client, right)).code, 0)
  assert.ok(!exists(first) && exists(second))
})

test('an identity goes with a backup of that very claim, which may be one of several', async () => {
  const [claim, another] = ['keys-mainnet-host-1', 'keys-mainnet-host-2']
  putClaim(claim)
  putClaim(another)
  const uid = room.server.get(`${folder}/persistentvolumeclaims/${claim}`)?.metadata?.uid ?? ''
  const [replica] = otherBackup.replicas
  assert.ok(replica)
  const backupWith = (...uids: readonly string[]): string =>
    backupText({
      ...otherBackup,
      replicas: uids.map((keysClaimUID, ordinal) => ({ ...replica, ordinal, keysClaimUID })),
    })
  const file = join(top, 'backup.json')
  writeFileSync(file, backupWith('of-no-claim'))
  const { code, stdout, stderr } = await runPlugin(
    room.client,
    ['claims', 'delete', 'host/mainnet', '--backup', file, '--backup', '-'],
    { stdin: backupWith('of-no-claim', uid) },
  )
  assert.deepEqual([code, stdout], [0, `claim ${claim} is deleted\n`])
  assert.match(stderr, /^claim keys-mainnet-host-2 is kept: it holds an identity/)
})

test('where all claims of a resource are kept, none is deleted, and that is said', async () => {
  putHost(1)
  putClaim('data-mainnet-host-0')
  const { code, stdout, stderr } = await runPlugin(room.client, [
    'claims',
    'delete',
    'host/mainnet',
  ])
  assert.deepEqual([code, stdout], [0, ''])
  assert.match(stderr, /^claim data-mainnet-host-0 is kept: .*\nNo claim was deleted\.\n$/)
})

test('a deletion that the API server refuses fails with what it says', async () => {
  putClaim('data-mainnet-host-1')
  room.server.faults.add(({ method }, response) => {
    if (method !== 'DELETE') return false
    send(response, 403, status(403, 'Forbidden', 'a policy forbids it'))
    return true
  })
  const { code, stderr } = await runPlugin(room.client, ['claims', 'delete', 'data-mainnet-host-1'])
  assert.equal(code, 2)
  assert.match(stderr, /403 a policy forbids it \(OPERATOR_API_FORBIDDEN\)/)
})

test('a claim is deleted only as it was checked, and a changed one is kept', async () => {
  putClaim('data-mainnet-host-1')
  room.server.faults.add(({ method }) => {
    if (method === 'DELETE') putClaim('data-mainnet-host-1', { marks: { touched: 'yes' } })
    return false
  })
  const { code, stderr } = await runPlugin(room.client, ['claims', 'delete', 'data-mainnet-host-1'])
  assert.equal(code, 2)
  assert.match(stderr, /claim data-mainnet-host-1 was changed just now, and is kept/)
  assert.ok(exists('data-mainnet-host-1'))
})

test('a claim that a replica takes between the check and the deletion is kept', async () => {
  putHost(1)
  putClaim('data-mainnet-host-1')
  let lists = 0
  room.server.faults.add(({ path }) => {
    if (path === `${folder}/persistentvolumeclaims`) lists += 1
    if (lists === 2) putHost(2)
    return false
  })
  const { code, stderr } = await runPlugin(room.client, ['claims', 'delete', 'data-mainnet-host-1'])
  assert.equal(code, 2)
  assert.match(stderr, /claim data-mainnet-host-1 is kept: Host mainnet uses it/)
  assert.ok(exists('data-mainnet-host-1'))
})

test('a claim that goes by itself, before or while it is deleted, is no failure', async () => {
  const [before, during] = ['data-mainnet-host-1', 'data-mainnet-host-2']
  for (const name of [before, during]) putClaim(name)
  let lists = 0
  room.server.faults.add(({ method, path }) => {
    const claims = `${folder}/persistentvolumeclaims`
    if (path === claims) lists += 1
    if (lists === 2) room.server.remove(`${claims}/${before}`)
    if (method === 'DELETE') room.server.remove(path)
    return false
  })
  const ended = await runPlugin(room.client, ['claims', 'delete', before, during])
  assert.deepEqual(ended, { code: 0, stdout: '', stderr: '' })
  const deletions = room.server.requests.filter(({ method }) => method === 'DELETE')
  assert.deepEqual(
    deletions.map(({ path }) => path.split('/').at(-1)),
    [during],
  )
})

test('a claim that is being deleted already is not deleted again', async () => {
  putClaim('data-mainnet-host-1', { deletionTimestamp: '2026-01-01T00:00:00Z' })
  const { code, stderr } = await runPlugin(room.client, ['claims', 'delete', 'data-mainnet-host-1'])
  assert.equal(code, 2)
  assert.match(
    stderr,
    /^error: claim data-mainnet-host-1 is kept: it is being deleted already \(PLUGIN_CLAIM_KEPT\)/,
  )
  assert.ok(room.server.requests.every(({ method }) => method === 'GET'))
})

test('a claim that is named twice, also by its resource, is deleted once', async () => {
  putClaim('data-mainnet-host-1')
  room.server.faults.add(({ method }, response) => {
    if (method !== 'DELETE') return false
    putClaim('data-mainnet-host-1', { deletionTimestamp: '2026-01-01T00:00:00Z' })
    send(response, 200, status(200, ''))
    return true
  })
  const targets = ['data-mainnet-host-1', 'host/mainnet', 'data-mainnet-host-1']
  const deleted = await runPlugin(room.client, ['claims', 'delete', ...targets])
  const stdout = 'claim data-mainnet-host-1 is deleted\n'
  assert.deepEqual(deleted, { code: 0, stdout, stderr: '' })
})

test('claims of nobody of ours are neither listed nor deleted', async () => {
  putClaim('keys-mainnet-host-0', { marks: { [labels.name]: 'postgres' } })
  const listed = await runPlugin(room.client, ['claims'])
  assert.equal(listed.stderr, 'There are no such claims in namespace apps.\n')
  const deleted = await runPlugin(room.client, ['claims', 'delete', 'keys-mainnet-host-0'])
  assert.equal(deleted.code, 2)
  assert.ok(exists('keys-mainnet-host-0'))
})
