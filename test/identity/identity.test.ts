import assert from 'node:assert/strict'
import { hkdfSync, randomBytes, scryptSync } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { openIdentity, prepareIdentity } from '../../src/identity/identity.ts'
import { createSigner, isValidSignature } from '../../src/identity/signature.ts'
import { assertExplained } from '../docs/support/explained.ts'
import { startChild } from '../support/child-program.ts'
import { openFilesIn } from '../support/leaks/files.ts'
import { isRoot, otherUser } from '../support/other-user/leave-root.ts'

const top = await mkdtemp(join(tmpdir(), 'viewmesh-identity-'))
after(() => rm(top, { recursive: true }))
const digest = randomBytes(32)

/** What a group-writable volume of an orchestrator looks like: root of UID 0, lost+found in it. */
const keyPath = join(top, 'volume')
await mkdir(join(keyPath, 'lost+found'), { recursive: true })
await chmod(keyPath, 0o2775)

/** A key made once and used by the tests that only read it. */
const secret = 'correct horse battery staple'
const first = await openIdentity({ keyPath, secret, program: 'generator' })
const openAfterFirst = await openFilesIn(top)
const keyFile = join(keyPath, 'generator.json')
const keyText = await readFile(keyFile, 'utf8')

/** A file that stands where a directory should. */
const someFile = join(top, 'a file')
await writeFile(someFile, '')

async function failure(work: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await work.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ServiceError)
  return error
}

/** A key directory with this text as the Generator's key file. */
async function directoryWith(text: string): Promise<string> {
  const directory = await mkdtemp(join(top, 'damaged-'))
  await writeFile(join(directory, 'generator.json'), text)
  return directory
}

test('the first run leaves no file open', () => {
  assert.deepEqual(openAfterFirst, [])
})

test('the first run makes a key, later runs open the same one, also in a volume with lost+found', async () => {
  const again = await openIdentity({ keyPath, secret, program: 'generator' })
  assert.deepEqual([first.created, again.created], [true, false])
  assert.equal(again.signer.identity, first.signer.identity)
  assert.ok(isValidSignature('ES256K', first.signer.identity, digest, again.signer.sign(digest)))
  assert.equal(await readFile(keyFile, 'utf8'), keyText)
})

test('the key file is readable by its owner only and holds the key encrypted', async () => {
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600)
  const { ciphertext, tag, salt, iv, createdAt, ...rest } = JSON.parse(keyText)
  assert.deepEqual(rest, {
    format: 'viewmesh-key',
    version: 1,
    program: 'generator',
    type: 'ES256K',
    identity: first.signer.identity,
    kdf: 'scrypt N=131072 r=8 p=1',
    cipher: 'aes-256-gcm',
  })
  assert.ok(!keyText.includes(Buffer.from(first.signerKey.privateKey).toString('hex')))
})

test('the signing key can be handed to another thread', () => {
  const signer = createSigner(structuredClone(first.signerKey))
  assert.equal(signer.sign(digest), first.signer.sign(digest))
})

test('one key directory serves both programs; two first starts at once end with one key', async () => {
  const start = (): ReturnType<typeof openIdentity> =>
    openIdentity({ keyPath, secret, program: 'host' })
  const [host, same] = await Promise.all([start(), start()])
  assert.equal(host.signer.identity, same.signer.identity)
  assert.notEqual(host.signer.identity, first.signer.identity)
  assert.notDeepEqual(host.peerSeed, first.peerSeed)
  assert.deepEqual(await readdir(keyPath), ['generator.json', 'host.json', 'lost+found'])
  assert.equal(await readFile(keyFile, 'utf8'), keyText)
})

test('the peer ID is derived only from secret and program: HKDF(scrypt(secret), info = program)', () => {
  const cost = { N: 131_072, r: 8, p: 1, maxmem: 2 ** 28 }
  const stretched = scryptSync(secret, 'viewmesh/libp2p/1', 32, cost)
  assert.deepEqual(
    first.peerSeed,
    new Uint8Array(hkdfSync('sha256', stretched, '', 'generator', 32)),
  )
  assert.equal(
    Buffer.from(first.peerSeed).toString('hex'),
    '49f9e550fde50bf0d12db631363bed0ca150f0ef326d3a3c66cd9677fb9ada18',
  )
})

/**
 * Service page: "Failed to load existing identity | DB_KEYRING_SECRET differs from the first run | restore
 * the original value and restart".
 */
test('a secret that differs from the first run fails with "Failed to load existing identity"', async () => {
  const error = await failure(openIdentity({ keyPath, secret: 'other', program: 'generator' }))
  assert.equal(error.code, 'IDENTITY_LOCKED')
  assert.equal(error.message, 'Failed to load existing identity')
  assert.match(error.remedy ?? '', /restore the original value and restart/)
  assert.deepEqual(error.facts, { file: keyFile, identity: first.signer.identity })
  assert.equal(await readFile(keyFile, 'utf8'), keyText)
})

test('an empty keyring secret is refused before anything is written', async () => {
  const keyPath = join(top, 'never made')
  const error = await failure(openIdentity({ keyPath, secret: '', program: 'host' }))
  assert.equal(error.code, 'IDENTITY_SECRET_MISSING')
  assert.match(error.remedy ?? '', /DB_KEYRING_SECRET_FILE/)
  await assert.rejects(stat(keyPath), { code: 'ENOENT' })
})

const damages: Readonly<Record<string, { readonly text: string; readonly found: RegExp }>> = {
  'cut short': { text: keyText.slice(0, 200), found: /it is not JSON/ },
  empty: { text: '', found: /it is not JSON/ },
  'a list': { text: '[]', found: /format is undefined/ },
  'a text': { text: '"viewmesh-key"', found: /it is not a JSON object/ },
  nothing: { text: 'null', found: /it is not a JSON object/ },
  'of a later version': {
    text: keyText.replace('"version": 1', '"version": 2'),
    found: /version is 2, not 1/,
  },
  'of the other program': {
    text: keyText.replace('"generator"', '"host"'),
    found: /program is "host"/,
  },
  'of a cheaper key derivation': {
    text: keyText.replace('N=131072', 'N=2'),
    found: /kdf is "scrypt N=2/,
  },
  'without its tag': {
    text: keyText.replace('"tag"', '"gat"'),
    found: /tag is not 16 bytes of hex/,
  },
  'of a tag that was cut': {
    text: keyText.replace(/("tag": "[0-9a-f]{30})../, '$1'),
    found: /tag is not 16 bytes of hex/,
  },
  'of a longer salt': {
    text: keyText.replace('"salt": "', '"salt": "00'),
    found: /salt is not 16 bytes of hex/,
  },
  'of an identity with a prefix': {
    text: keyText.replace('"identity": "', '"identity": "0x'),
    found: /identity is not 33 bytes of hex/,
  },
  'of no time': {
    text: keyText.replace(/"createdAt": "[^"]+"/, '"createdAt": 7'),
    found: /createdAt is 7, not text/,
  },
  'longer than a key file may be': {
    text: `${keyText}${' '.repeat(65_537 - keyText.length)}`,
    found: /it is not JSON/,
  },
}

test('a key file of 64 KiB is read', async () => {
  const longest = await directoryWith(`${keyText}${' '.repeat(65_536 - keyText.length)}`)
  const { signer } = await openIdentity({ keyPath: longest, secret, program: 'generator' })
  assert.equal(signer.identity, first.signer.identity)
})

for (const [what, { text, found }] of Object.entries(damages)) {
  test(`a key file that is ${what} is reported as such and left unchanged`, async () => {
    const keyPath = await directoryWith(text)
    const error = await failure(openIdentity({ keyPath, secret, program: 'generator' }))
    assert.equal(error.code, 'IDENTITY_DAMAGED')
    assert.match(error.message, /^Failed to load existing identity: /)
    assert.match(error.message, found)
    assert.match(error.remedy ?? '', /backup/)
    assertExplained(error)
    assert.equal(await readFile(join(keyPath, 'generator.json'), 'utf8'), text)
  })
}

test('readable parts of the key file cannot be changed: they are authenticated with the key', async () => {
  const changed = keyText.replace(first.signer.identity, `02${'ab'.repeat(32)}`)
  const keyPath = await directoryWith(changed)
  const error = await failure(openIdentity({ keyPath, secret, program: 'generator' }))
  assert.equal(error.code, 'IDENTITY_LOCKED')
})

test('a key that does not exist yet is generated as it is opened, and not as that is prepared', async () => {
  const parent = await mkdtemp(join(top, 'empty-'))
  const keyPath = join(parent, 'not', 'there yet')
  const open = await prepareIdentity({ keyPath, secret, program: 'host' })
  assert.deepEqual(await readdir(parent), [])
  assert.equal((await open()).created, true)
  assert.equal((await stat(keyPath)).mode & 0o777, 0o700)
  assert.equal((await open()).created, false)
})

test('a key that is there is read as its opening is prepared', async () => {
  const copy = await directoryWith(keyText)
  const open = await prepareIdentity({ keyPath: copy, secret, program: 'generator' })
  await rm(copy, { recursive: true })
  const { signer, created } = await open()
  assert.deepEqual([signer.identity, created], [first.signer.identity, false])
})

for (const [what, keyPath] of [
  ['a file where the key directory should be', someFile],
  ['a key directory on a file system that takes none', '/proc/viewmesh/keys'],
] as const)
  test(`${what} is reported with the setting to change, before a store is made`, async () => {
    const options = { keyPath, secret, program: 'host' } as const
    for (const open of [prepareIdentity, openIdentity]) {
      const error = await failure(open(options))
      assert.equal(error.code, 'IDENTITY_DIRECTORY_UNUSABLE')
      assert.match(error.remedy ?? '', /DB_KEY_PATH/)
    }
  })

/** A directory that a process which is not root may not use. */
async function lockedDirectory(name: string, mode: number): Promise<string> {
  const directory = join(top, name)
  await mkdir(directory)
  await chmod(directory, mode)
  return directory
}

for (const [what, mode] of [
  ['write', 0o555],
  ['read', 0o000],
] as const) {
  test(`service page: "Permission denied on the key directory" that the process may not ${what}`, async () => {
    await chmod(top, 0o755)
    const directory = await lockedDirectory(what, mode)
    const child = startChild('test/identity/support/open-identity.ts', { args: [directory] })
    const { stdout, stderr } = await child.ended()
    assert.equal(stderr, '')
    const error = JSON.parse(stdout)
    assert.equal(error.code, 'IDENTITY_PERMISSION')
    assert.equal(error.message, 'Permission denied on the key directory')
    const command = `chown -R ${otherUser} ${directory}`
    assert.ok(
      error.remedy.includes(`(${isRoot ? command : `${command} && chmod -R u+rwX ${directory}`})`),
    )
    const owner = isRoot ? '0:0' : otherUser
    assert.deepEqual(error.facts, { path: directory, owner, user: otherUser })
    await chmod(directory, 0o755)
    assert.deepEqual(await readdir(directory), [])
  })
}

for (const [what, mode, commandOf] of [
  [
    'may not be written to',
    0o555,
    (_, path) => `(mkdir -p ${path} && chown -R ${otherUser} ${path}), start.`,
  ],
  [
    'may not be entered',
    0o000,
    (nearest, path) => `(chown -R ${otherUser} ${path}), let ${otherUser} enter ${nearest}, start.`,
  ],
] satisfies [string, number, (nearest: string, path: string) => string][])
  test(`a key directory that is missing below one that ${what} comes with the commands`, async () => {
    await chmod(top, 0o755)
    const nearest = await lockedDirectory(what, mode)
    const path = join(nearest, 'keys')
    const child = startChild('test/identity/support/open-identity.ts', { args: [path] })
    const { code, remedy, facts } = JSON.parse((await child.ended()).stdout)
    assert.equal(code, 'IDENTITY_PERMISSION')
    assert.ok(remedy.includes(commandOf(nearest, path)), remedy)
    const owner = isRoot ? '0:0' : otherUser
    assert.deepEqual(facts, { path, owner, user: otherUser, nearest })
    await chmod(nearest, 0o755)
  })
