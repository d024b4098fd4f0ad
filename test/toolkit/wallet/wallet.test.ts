/** `viewmesh wallet`, and the sources of keys and passwords. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { fromKeystore, parsePrivateKey } from '../../../src/toolkit/wallet/keystore.ts'
import { repository } from '../../support/repository.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const env = { VIEWMESH_WALLET_PASSWORD: 'testpassword' }

/** The first test vector of https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage. */
const vector = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
/** The second one: the same key by scrypt, with parameters that this program does not write. */
const scryptVector = {
  ...vector,
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      r: 1,
      p: 8,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
}
const vectorKey = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const vectorAddress = '0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b'
const mnemonic = 'test test test test test test test test test test test junk'
const mnemonicAddress = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

test('a generated wallet is a keystore for its owner alone, and shows its address', async (t) => {
  const terminal = await openTestTerminal(t)
  const made = await terminal.run(['wallet', 'generate', '--json'], { env })
  assert.equal(made.exitCode, 0)
  const { path, address } = JSON.parse(made.stdout)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.equal((await stat(join(path, '..'))).mode & 0o777, 0o700)
  const text = await readFile(path, 'utf8')
  assert.equal(JSON.parse(text).version, 3)
  assert.match(text, /^\{\n {2}"address": "[0-9a-f]{40}",\n/)
  assert.match(fromKeystore(text, 'testpassword', path), /^0x[0-9a-f]{64}$/)
  assert.deepEqual(await terminal.json('wallet', 'inspect'), { name: 'default', path, address })
})

test('a mnemonic is shown on a terminal and nowhere else', async (t) => {
  const terminal = await openTestTerminal(t)
  const words = /(?:^| )(?:[a-z]+ ){23}[a-z]+$/m
  const piped = await terminal.run(['wallet', 'generate'], { env })
  assert.doesNotMatch(`${piped.stdout}${piped.stderr}`, words)
  assert.match(piped.stderr, /^The mnemonic is shown on a terminal only: keep a copy of the file/)
  const seen = await terminal.run(['wallet', 'generate', '--name', 'b'], { env, isTTY: true })
  assert.match(seen.stderr, words)
  assert.doesNotMatch(seen.stdout, words)
})

test('a wallet is never written over, and nothing is left beside it', async (t) => {
  const terminal = await openTestTerminal(t)
  const folder = join(terminal.homeFolder, '.viewmesh', 'wallets')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'default.json'), 'mine')
  for (const command of ['generate', 'import']) {
    const again = await terminal.run(['wallet', command], { env })
    assert.deepEqual([again.exitCode, again.stdout], [1, ''])
    assert.match(again.stderr, /there is a wallet already/)
  }
  assert.deepEqual(await readdir(folder), ['default.json'])
  assert.equal(await readFile(join(folder, 'default.json'), 'utf8'), 'mine')
})

for (const keystore of [vector, scryptVector])
  test(`a ${keystore.crypto.kdf} keystore of another tool is taken over by its password alone`, async (t) => {
    const terminal = await openTestTerminal(t)
    const file = join(terminal.cwd, 'foundry.json')
    await writeFile(file, JSON.stringify(keystore))
    const argv = ['wallet', 'import', '--keystore', file, '--json']
    const wrong = await terminal.run(argv, { env: { VIEWMESH_WALLET_PASSWORD: 'x' } })
    assert.deepEqual([wrong.exitCode, wrong.stdout], [1, ''])
    assert.match(wrong.stderr, /the password does not open/)
    const right = await terminal.run(argv, { env })
    const { path, address } = JSON.parse(right.stdout)
    assert.equal(address, vectorAddress)
    assert.equal(fromKeystore(await readFile(path, 'utf8'), 'testpassword', path), vectorKey)
  })

/** Keystores as other tools wrote them, of the keys that anvil funds second and third. */
const foreign = [
  // cast wallet import fixture --private-key 0x59c6... --unsafe-password 'a password of tests'
  {
    tool: 'Foundry',
    file: 'cast-1.7.1-keystore.json',
    address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    key: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  },
  // ethkey generate --privatekey FILE --passwordfile FILE --lightkdf, which writes as geth account import does
  {
    tool: 'geth',
    file: 'geth-1.15.11-keystore.json',
    address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    key: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  },
]

for (const { tool, file, address: wanted, key } of foreign)
  test(`a keystore that ${tool} wrote is taken over as it stands in its folder`, async (t) => {
    const keystore = join(repository, 'test/fixtures/toolkit', file)
    const terminal = await openTestTerminal(t)
    const made = await terminal.run(['wallet', 'import', '--keystore', keystore, '--json'], {
      env: { VIEWMESH_WALLET_PASSWORD: 'a password of tests' },
    })
    assert.equal(made.exitCode, 0, made.stderr)
    const { path, address } = JSON.parse(made.stdout)
    assert.equal(address, wanted)
    assert.equal(fromKeystore(await readFile(path, 'utf8'), 'a password of tests', path), key)
  })

test('a mnemonic and a private key come from a file or from standard input', async (t) => {
  const terminal = await openTestTerminal(t)
  const byWords = await terminal.run(
    ['wallet', 'import', '--mnemonic-file', '-', '--name', 'words', '--json'],
    { env, stdin: ` ${mnemonic.toUpperCase()}\n` },
  )
  assert.equal(JSON.parse(byWords.stdout).address, mnemonicAddress)
  const file = join(terminal.cwd, 'key')
  const password = join(terminal.cwd, 'password')
  await writeFile(file, `${vectorKey}\n`)
  await writeFile(password, 'other\r\n')
  const byKey = await terminal.run([
    ...['wallet', 'import', '--key-file', file, '--name', 'key', '--json'],
    ...['--password-file', password],
  ])
  const { path, address } = JSON.parse(byKey.stdout)
  assert.equal(address, vectorAddress)
  assert.equal(fromKeystore(await readFile(path, 'utf8'), 'other', path), vectorKey)
})

test('a wallet is imported of one key, which shares standard input with no password', async (t) => {
  const terminal = await openTestTerminal(t)
  for (const [flags, message] of [
    [['--keystore', 'a', '--key-file', 'b'], 'more than one key to import'],
    [['--key-file', 'a', '--mnemonic-file', 'b'], 'more than one key to import'],
    [
      ['--key-file', '-', '--password-file', '-'],
      'key and password cannot both be read from standard input',
    ],
    [[], 'no key to import'],
  ] as const) {
    const { exitCode, stderr } = await terminal.run(['wallet', 'import', ...flags])
    assert.deepEqual([exitCode, stderr.split('\n')[0]], [2, `error: ${message}`])
  }
  assert.deepEqual(await readdir(terminal.homeFolder), [])
  const password = join(terminal.cwd, 'password')
  await writeFile(password, 'p')
  const argv = ['wallet', 'import', '--key-file', '-', '--password-file', password]
  assert.equal((await terminal.run(argv, { stdin: vectorKey })).exitCode, 0)
})

test('an invalid mnemonic or key is refused, and not repeated', async (t) => {
  const terminal = await openTestTerminal(t)
  const bad = mnemonic.replace('junk', 'test')
  const words = await terminal.run(['wallet', 'import', '--mnemonic-file', '-'], {
    env,
    stdin: bad,
  })
  assert.match(words.stderr, /no valid mnemonic phrase/)
  assert.doesNotMatch(words.stderr, /test test/)
  const key = await terminal.run(['wallet', 'import', '--key-file', '-'], {
    env,
    stdin: 'ff'.repeat(32),
  })
  assert.match(key.stderr, /^error: standard input holds no private key\n/)
  assert.doesNotMatch(key.stderr, /ffff/)
  assert.deepEqual([words.exitCode, key.exitCode], [1, 1])
})

test('without a password, and with nobody to ask, nothing is made', async (t) => {
  const terminal = await openTestTerminal(t)
  const made = await terminal.run(['wallet', 'generate'])
  assert.equal(made.exitCode, 1)
  assert.match(made.stderr, /no password was given/)
  assert.deepEqual(await readdir(terminal.homeFolder), [])
})

test('a name that could leave the folder is refused', async (t) => {
  const terminal = await openTestTerminal(t)
  for (const name of ['../x', 'a/b', '.hidden', '', 'x'.repeat(65)]) {
    const { exitCode } = await terminal.run(['wallet', 'inspect', '--name', name])
    assert.equal(exitCode, 2, name)
  }
  const { stderr } = await terminal.run(['wallet', 'inspect', '--name', 'x'.repeat(101)])
  assert.match(stderr, /^error: "x{100}" cannot be the name of a wallet\n/)
})

test('any text is a keystore that opens or a failure with a code, within bounds', () => {
  const damaged = fc
    .tuple(fc.constantFrom(...leavesOf(vector)), fc.jsonValue())
    .map(([place, value]) => JSON.stringify(replaced(vector, place, value)))
  const text = fc.oneof(fc.string(), fc.json(), damaged)
  fc.assert(
    fc.property(text, (given) => {
      try {
        fromKeystore(given, 'wrong password', 'a file')
        return false
      } catch (error) {
        return error instanceof ServiceError && /^TOOLKIT_WALLET_/.test(error.code)
      }
    }),
    { numRuns: 60 },
  )
})

test('a keystore that would take gigabytes to open is refused', () => {
  const kdfparams = { dklen: 32, n: 2 ** 30, r: 8, p: 1, salt: '00' }
  const greedy = { ...vector, crypto: { ...vector.crypto, kdf: 'scrypt', kdfparams } }
  assert.throws(
    () => fromKeystore(JSON.stringify(greedy), 'x', 'a file'),
    /not a keystore of version 3/,
  )
})

test('every text is a private key of 32 bytes or refused', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789abcdefx') })),
      (given) => {
        try {
          return /^0x[0-9a-f]{64}$/.test(parsePrivateKey(given, 'a file'))
        } catch (error) {
          return error instanceof ServiceError && error.code === 'TOOLKIT_WALLET_INVALID'
        }
      },
    ),
  )
})

/** Paths of all values inside. */
function leavesOf(value: object): string[][] {
  return Object.entries(value).flatMap(([key, part]) =>
    typeof part === 'object' ? leavesOf(part).map((rest) => [key, ...rest]) : [[key]],
  )
}

function replaced(value: object, [key = '', ...rest]: readonly string[], by: unknown): object {
  const inner = (value as Record<string, object>)[key] ?? {}
  return { ...value, [key]: rest.length === 0 ? by : replaced(inner, rest, by) }
}
