import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import {
  parseAddresses,
  parsePeerAddress,
  parsePeerAddresses,
} from '../../../src/p2p/peers/address.ts'

const ed25519 = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'
const rsa = 'QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N'

test('a peer address is an IP or name, a TCP port and the peer ID', () => {
  const names = ['dns', 'dns4', 'dns6'].map((kind) => `/${kind}/peer.test/tcp/9171`)
  for (const place of ['/ip4/10.0.0.1/tcp/9171', '/ip6/::1/tcp/9171', ...names]) {
    const { id, address } = parsePeerAddress(`${place}/p2p/${ed25519}`)
    assert.equal(id.toString(), ed25519)
    assert.equal(address.toString(), `${place}/p2p/${ed25519}`)
  }
})

const refusals: Readonly<Record<string, RegExp>> = {
  '/ip4/10.0.0.1/tcp/9171': /does not end in \/p2p\/<peer id>/,
  '/ip4/10.0.0.1/tcp/9171/p2p/xyz': /what follows \/p2p\/ is not a peer ID/,
  [`/ip4/10.0.0.1/tcp/9171/p2p/${rsa}`]: /does not contain an Ed25519 key/,
  [`/ip4/10.0.0.1/udp/9171/p2p/${ed25519}`]: /an IP address or name and a TCP port/,
  [`/p2p/${ed25519}`]: /an IP address or name and a TCP port/,
  [`/ip4/10.0.0.1/tcp/9171/p2p/${ed25519}/p2p-circuit`]: /goes on after the peer ID/,
  '10.0.0.1:9171': /is not a multiaddr/,
  '/ip4/300.0.0.1/tcp/9171': /is not a multiaddr/,
}

for (const [text, reason] of Object.entries(refusals)) {
  test(`"${text}" is refused, with the reason and the form of an address`, () => {
    assert.throws(
      () => parsePeerAddress(text),
      (error) => {
        assert(error instanceof ServiceError)
        assert.equal(error.code, 'P2P_ADDRESS_INVALID')
        assert.match(error.message, reason)
        assert(error.message.includes(`"${text}"`))
        assert.match(error.remedy ?? '', /\/ip4\/<address>\/tcp\/9171\/p2p\/<peer id>/)
        return true
      },
    )
  })
}

test('of an address without end a message shows 200 characters', () => {
  assert.throws(() => parsePeerAddress('x'.repeat(1000)), {
    message: `cannot use the address "${'x'.repeat(200)}": it is not a multiaddr`,
    facts: { address: 'x'.repeat(200) },
  })
})

test('a list is read whole: every bad entry is named in one error, blank ones are skipped', () => {
  const good = `/ip4/10.0.0.1/tcp/9171/p2p/${ed25519}`
  assert.equal(parsePeerAddresses([` ${good} `, '', '  ']).length, 1)
  assert.throws(() => parsePeerAddresses([good, 'nonsense', '/ip4/10.0.0.2/tcp/1']), {
    message: /"nonsense".*; .*"\/ip4\/10\.0\.0\.2\/tcp\/1"/,
  })
})

test('an own address may be written with or without its peer ID', () => {
  const texts = ['/ip4/1.2.3.4/tcp/9171', `/dns4/peer.test/tcp/9171/p2p/${ed25519}`]
  assert.deepEqual(parseAddresses(texts).map(String), [
    '/ip4/1.2.3.4/tcp/9171',
    '/dns4/peer.test/tcp/9171',
  ])
})

test('an own address that no peer could dial by TCP is refused', () => {
  for (const text of ['/ip4/10.0.0.1/udp/9171', `/p2p/${ed25519}`]) {
    assert.throws(() => parseAddresses([text]), {
      code: 'P2P_ADDRESS_INVALID',
      message: `cannot use the address "${text}": it does not begin with an IP address or name and a TCP port`,
    })
  }
})

test('no text whatever breaks the parser', () => {
  const word = fc.constantFrom(
    'ip4',
    'ip6',
    'tcp',
    'p2p',
    '10.0.0.1',
    '9171',
    ed25519,
    rsa,
    '',
    'x',
  )
  const addressLike = fc.array(word, { maxLength: 8 }).map((words) => words.join('/'))
  fc.assert(
    fc.property(fc.oneof(fc.string(), addressLike), (text) => {
      try {
        parsePeerAddress(text)
      } catch (error) {
        assert(error instanceof ServiceError)
      }
    }),
  )
})
