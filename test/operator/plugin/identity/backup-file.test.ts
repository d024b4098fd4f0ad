import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  backupText,
  maxBackupBytes,
  parseBackup,
} from '../../../../operator/plugin/identity/backup-file.ts'
import { readBackup } from '../../../../operator/plugin/identity/read-backup.ts'
import { codeOf } from '../../../../src/errors.ts'
import { backupOf, otherBackup } from '../../support/identity-backup.ts'

const backup = await backupOf()

/** The backup with something else in it, as text. */
function changed(change: Record<string, unknown>, ofReplica: Record<string, unknown> = {}): string {
  const fields = JSON.parse(backupText(backup))
  const [first] = fields.replicas
  return JSON.stringify({ ...fields, replicas: [{ ...first, ...ofReplica }], ...change })
}

test('a backup is read as it was written, and its text says first that it is a secret', async () => {
  const text = backupText(backup)
  assert.deepEqual(await parseBackup(text, 'a.json'), backup)
  assert.match(
    text,
    /^\{\n {2}"format": "viewmesh-identity-backup",\n {2}"version": 1,\n {2}"warning": "This is a SECRET: /,
  )
})

test('a key with a line break at its end opens its key file, as programs read it', async () => {
  const [replica] = backup.replicas
  const text = changed({}, { key: `${replica?.key}\n` })
  assert.equal((await parseBackup(text, 'a.json')).replicas[0]?.key, `${replica?.key}\n`)
})

const [other] = otherBackup.replicas
for (const [what, text, message] of [
  ['another program wrote', '{"kind": "Secret"}', 'a.json: it is no backup of kubectl viewmesh'],
  ['is no JSON', 'apiVersion: v1', 'a.json: it is no backup of kubectl viewmesh'],
  ['is of a later version', changed({ version: 2 }), 'a.json: its version is not 1'],
  ['is of no kind of ours', changed({ kind: 'Pod' }), 'a.json: kind is neither Generator nor Host'],
  ['has no replicas', changed({ replicas: [] }), 'a.json: it holds no replicas'],
  [
    'has a replica twice',
    changed({ replicas: [backup.replicas[0], backup.replicas[0]] }),
    'a.json: it holds a replica twice',
  ],
  [
    'leads out of its folder',
    changed({ name: '../x' }),
    'a.json: name is missing, or has another form',
  ],
  [
    'names a Secret as none is named',
    changed({ keyring: { secret: 'a/b' } }),
    'a.json: secret is missing, or has another form',
  ],
  ['lacks a key', changed({}, { key: undefined }), 'a.json: key is missing, or has another form'],
  [
    'has the key of another replica',
    changed({}, { key: other?.key }),
    `a.json: the key of replica 0 has the fingerprint ${other?.keyringFingerprint}, not ${backup.replicas[0]?.keyringFingerprint}`,
  ],
  [
    'has the key file of another replica',
    changed({}, { keyFile: other?.keyFile }),
    'a.json: a key file does not open with its key in the keyring',
  ],
  [
    'has a key file that was cut',
    changed({}, { keyFile: '{"format":' }),
    'a.json: a key file does not open with its key in the keyring',
  ],
  [
    'says another identity than its key file',
    changed({}, { identity: other?.identity }),
    `a.json: the key file of replica 0 is that of ${backup.replicas[0]?.identity}, not of ${other?.identity}`,
  ],
] as const) {
  test(`a file that ${what} is refused as a whole`, async () => {
    await assert.rejects(parseBackup(text, 'a.json'), {
      code: 'PLUGIN_BACKUP_UNUSABLE',
      message,
      remedy: 'Take another backup; of this one nothing is used.',
    })
  })
}

test('each part of a backup has a form, and what has another is named and refused', async () => {
  const odd = [
    ['name', changed({ name: 'a'.repeat(41) })],
    ['namespace', changed({ namespace: 'a'.repeat(64) })],
    ['namespace', changed({ namespace: 'a/b' })],
    ['network', changed({ network: 'Ethereum Mainnet' })],
    ['secret', changed({ keyring: null })],
    ['size', changed({ storage: { size: '1 Gi', storageClassName: null } })],
    ['size', changed({ storage: { size: '1e9Gi', storageClassName: null } })],
    ['storageClassName', changed({ storage: { size: '1Gi', storageClassName: 'a b' } })],
    ['image', changed({ image: '' })],
    ['image', changed({ image: 7 })],
    ['createdAt', changed({ createdAt: 'yesterday' })],
    ['ordinal', changed({}, { ordinal: 100 })],
    ['ordinal', changed({}, { ordinal: -1 })],
    ['ordinal', changed({}, { ordinal: undefined })],
    ['key', changed({}, { key: ' ' })],
    ['key', changed({}, { key: 'k'.repeat(65_537) })],
    ['keyringFingerprint', changed({}, { keyringFingerprint: 'A'.repeat(16) })],
    ['keyFile', changed({}, { keyFile: '' })],
    ['identity', changed({}, { identity: '02' })],
    ['peerID', changed({}, { peerID: 'a/b' })],
    ['keysClaimUID', changed({}, { keysClaimUID: 'a b' })],
  ] as const
  for (const [name, text] of odd) {
    const message = `a.json: ${name} is missing, or has another form`
    await assert.rejects(parseBackup(text, 'a.json'), { message })
  }
})

test('a backup has a hundred replicas at most, and texts of 64 KiB', async () => {
  const [replica] = backup.replicas
  const many = (count: number): string =>
    changed({ replicas: Array.from({ length: count }, (_, ordinal) => ({ ...replica, ordinal })) })
  const odd = Array.from({ length: 100 }, () => ({ ...replica, ordinal: 'first' }))
  const ofForm = { message: 'a.json: ordinal is missing, or has another form' }
  await assert.rejects(parseBackup(changed({ replicas: odd }), 'a.json'), ofForm)
  await assert.rejects(parseBackup(many(101), 'a.json'), {
    message: 'a.json: it holds no replicas',
  })
  const longest = parseBackup(changed({}, { key: 'k'.repeat(65_536) }), 'a.json')
  await assert.rejects(longest, { message: /^a\.json: the key of replica 0 has the fingerprint / })
})

test('a backup may leave out what nobody knew when it was taken', async () => {
  const storage = { size: '1Gi', storageClassName: null }
  const unknown = changed({ image: null, storage }, { peerID: null })
  const { image, storage: found, replicas, keyring } = await parseBackup(unknown, 'a.json')
  assert.deepEqual([image, found, replicas[0]?.peerID], [null, storage, null])
  const own = { ...keyring, isOwn: true }
  assert.deepEqual((await parseBackup(changed({ keyring: own }), 'a.json')).keyring, own)
  const unsaid = { secret: keyring.secret }
  assert.equal((await parseBackup(changed({ keyring: unsaid }), 'a.json')).keyring.isOwn, false)
})

test('a volume of any size that a spec may ask for can be restored', async () => {
  for (const size of ['1Gi', '1.5Gi', '107374182400', '500m', '1e9', '10E9', '1e+9']) {
    const storage = { size, storageClassName: '' }
    assert.deepEqual((await parseBackup(changed({ storage }), 'a.json')).storage, storage)
  }
})

test('no text whatever makes reading end otherwise than with a backup or a refusal', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
      await assert.rejects(parseBackup(text, 'a.json'), { code: 'PLUGIN_BACKUP_UNUSABLE' })
    }),
  )
})

test('a file is read as far as a backup may be long, and a missing one is named', async () => {
  const piped = Readable.from([Buffer.from(backupText(backup))])
  assert.deepEqual(await readBackup('-', piped), backup)
  const full = Readable.from([Buffer.alloc(maxBackupBytes)])
  await assert.rejects(readBackup('-', full), { code: 'PLUGIN_BACKUP_UNUSABLE' })
  const pieces = function* (): Generator<Buffer> {
    yield Buffer.alloc(maxBackupBytes)
    yield Buffer.alloc(1)
    assert.fail('it is read on')
  }
  const endless = Readable.from(pieces())
  await assert.rejects(readBackup('-', endless), {
    code: 'PLUGIN_FILE_UNUSABLE',
    message: `standard input has more than ${maxBackupBytes} bytes`,
  })
  const padded = backupText(backup).padEnd(maxBackupBytes)
  assert.deepEqual(await readBackup('-', Readable.from([Buffer.from(padded)])), backup)
  await assert.rejects(readBackup('/nonexistent/a.json', piped), ({ message, cause }: Error) => {
    assert.deepEqual([message, codeOf(cause)], ['/nonexistent/a.json cannot be read', 'ENOENT'])
    return true
  })
})
