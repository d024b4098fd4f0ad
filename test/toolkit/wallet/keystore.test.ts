/** What is read of a keystore of another tool before its password is asked for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressIn, adoptKeystore, parsePrivateKey } from '../../../src/toolkit/wallet/keystore.ts'

const cipher = {
  cipher: 'aes-128-ctr',
  cipherparams: { iv: '00'.repeat(16) },
  ciphertext: '00'.repeat(32),
  mac: '00'.repeat(32),
}
const scrypt = { dklen: 32, n: 4096, r: 8, p: 1, salt: '00' }
const pbkdf2 = { dklen: 32, c: 1000, prf: 'hmac-sha256', salt: '00' }
const byScrypt = (params: object): object => ({
  crypto: { ...cipher, kdf: 'scrypt', kdfparams: { ...scrypt, ...params } },
})
const byPbkdf2 = (params: object): object => ({
  crypto: { ...cipher, kdf: 'pbkdf2', kdfparams: { ...pbkdf2, ...params } },
})

const byCipher = ({ iv = '00'.repeat(16), mac = cipher.mac, name = cipher.cipher }): object => ({
  crypto: {
    ...{ ...cipher, cipher: name, cipherparams: { iv }, mac },
    ...{ kdf: 'scrypt', kdfparams: scrypt },
  },
})

function addressOfKeystore(parts: object): string | null {
  return addressIn(JSON.stringify({ ...byScrypt({}), id: 'an id', version: 3, ...parts }), 'a file')
}

const bounds: readonly { what: string; inside: readonly object[]; outside: readonly object[] }[] = [
  {
    what: 'the cost of scrypt',
    inside: [{ n: 2 }, { n: 2 ** 17 }].map(byScrypt),
    outside: [{ n: 1 }, { n: 3 }, { n: 2 ** 17 + 2 }].map(byScrypt),
  },
  {
    what: 'the block size of scrypt',
    inside: [{ r: 1 }, { r: 16 }].map(byScrypt),
    outside: [{ r: 0 }, { r: 17 }].map(byScrypt),
  },
  {
    what: 'the parallelization of scrypt',
    inside: [{ p: 1 }, { p: 16 }].map(byScrypt),
    outside: [{ p: 0 }, { p: 17 }].map(byScrypt),
  },
  {
    what: 'the work of scrypt as a whole',
    inside: [
      { n: 2 ** 20, r: 16, p: 1 },
      { n: 2 ** 16, r: 16, p: 16 },
    ].map(byScrypt),
    outside: [
      { n: 2 ** 21, r: 16, p: 1 },
      { n: 2 ** 17, r: 16, p: 16 },
    ].map(byScrypt),
  },
  {
    what: 'the iterations of PBKDF2',
    inside: [{ c: 1 }, { c: 10_000_000 }].map(byPbkdf2),
    outside: [{ c: 0 }, { c: 10_000_001 }].map(byPbkdf2),
  },
  {
    what: 'the length of a salt',
    inside: [{ salt: '00' }, { salt: '00'.repeat(128) }].map(byScrypt),
    outside: [{ salt: '' }, { salt: '0' }, { salt: '00'.repeat(129) }].map(byScrypt),
  },
  {
    what: 'the length of a ciphertext',
    inside: [byScrypt({})],
    outside: [31, 33].map((bytes) => ({
      crypto: { ...cipher, kdf: 'scrypt', kdfparams: scrypt, ciphertext: '00'.repeat(bytes) },
    })),
  },
  {
    what: 'the length of an ID',
    inside: [{ id: '' }, { id: 'x'.repeat(100) }],
    outside: [{ id: 'x'.repeat(101) }],
  },
  {
    what: 'the length of a vector and of a code',
    inside: [{ iv: 'aB'.repeat(16) }, { mac: 'aB'.repeat(32) }].map(byCipher),
    outside: [
      ...[15, 17].map((bytes) => ({ iv: '00'.repeat(bytes) })),
      ...[31, 33].map((bytes) => ({ mac: '00'.repeat(bytes) })),
      ...[{ mac: '0g'.repeat(32) }, { name: 'aes-256-ctr' }],
    ].map(byCipher),
  },
  {
    what: 'the length of a key and how it is derived',
    inside: [byPbkdf2({})],
    outside: [
      ...[{ dklen: 31 }, { dklen: 64 }].map(byScrypt),
      ...[{ dklen: 31 }, { prf: 'hmac-sha1' }, { salt: '' }].map(byPbkdf2),
      { crypto: { ...cipher, kdf: 'argon2', kdfparams: scrypt } },
    ],
  },
  { what: 'the version', inside: [{ version: 3 }], outside: [{ version: 1 }, { version: 4 }] },
]

for (const { what, inside, outside } of bounds)
  test(`a keystore is read within the bounds of ${what}, and refused beyond`, () => {
    for (const parts of inside) assert.equal(addressOfKeystore(parts), null)
    for (const parts of outside)
      assert.throws(() => addressOfKeystore(parts), {
        code: 'TOOLKIT_WALLET_INVALID',
        message: /^a file is not a keystore of version 3/,
      })
  })

test('the address of a keystore is shown with its checksum, however it is written', () => {
  const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const digits = address.slice(2)
  for (const written of [digits.toLowerCase(), digits.toUpperCase(), address])
    assert.equal(addressOfKeystore({ address: written }), address)
})

test('what is no address in a keystore is none', () => {
  const digits = '70997970c51812dc3a010c7d01b50e0d17dc79c8'
  for (const written of ['', digits.slice(1), `${digits}0`, `1x${digits}`, `0x0x${digits}`])
    assert.equal(addressOfKeystore({ address: written }), null)
})

test('a private key is a number below the order of the curve, in hex digits of any case', () => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const digits = (value: bigint): string => value.toString(16).padStart(64, '0')
  for (const value of [1n, order - 1n])
    for (const written of [
      digits(value),
      `0x${digits(value)}`,
      ` 0x${digits(value).toUpperCase()}\n`,
    ])
      assert.equal(parsePrivateKey(written, 'a file'), `0x${digits(value)}`)
  const short = digits(1n).slice(1)
  for (const text of ['', digits(0n), digits(order), short, `0${digits(1n)}`, `g${short}`])
    assert.throws(() => parsePrivateKey(text, 'a file'), {
      code: 'TOOLKIT_WALLET_INVALID',
      message: 'a file holds no private key',
    })
})

test('a keystore of another tool is kept with its address, as Foundry and geth write one', () => {
  const privateKey = `0x${'0'.repeat(63)}1`
  const foreign = { ...byScrypt({}), id: 'an id', version: 3 }
  const given = JSON.stringify({ address: 'of somebody else', ...foreign })
  const { text, address } = adoptKeystore(given, privateKey, 'a file')
  assert.equal(address, '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf')
  const noted = JSON.parse(text)
  assert.deepEqual(noted, { address: '7e5f4552091a69125d5dfcb7b8c2659029395bdf', ...foreign })
  assert.equal(text, `${JSON.stringify(noted, null, 2)}\n`)
})
