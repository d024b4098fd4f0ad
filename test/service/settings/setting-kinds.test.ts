import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { account } from '../../../src/service/settings/account.ts'
import {
  anyMultiaddr,
  listenMultiaddr,
  peerMultiaddr,
} from '../../../src/service/settings/multiaddr-kinds.ts'
import {
  boolean,
  choice,
  hostAndPort,
  integerBetween,
  list,
  path,
  type SettingKind,
  secretText,
  text,
  url,
} from '../../../src/service/settings/setting-kinds.ts'

const peerId = '12D3KooWHHzSeKaY8xuZVzkLbKFfvNgPPeKhFBGrMbNzbm5akpqu'

/** The first example of EIP-55. */
const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const digits = checksummed.slice(2).toLowerCase()

interface Case {
  readonly kind: SettingKind<unknown>
  readonly accepts: string
  /** As written in YAML or the environment -> as the program gets it. */
  readonly good: readonly (readonly [unknown, unknown])[]
  readonly bad: readonly unknown[]
}

const same = (...values: readonly unknown[]): [unknown, unknown][] => values.map((v) => [v, v])

const cases: Readonly<Record<string, Case>> = {
  integer: {
    kind: integerBetween(1, 100),
    accepts: 'a whole number from 1 to 100',
    good: [
      [1, 1],
      ['100', 100],
      [' 7 ', 7],
    ],
    bad: [0, 101, '1.5', '1e2', '0x10', '', 'seven', true, null, [1], '99999999999999999999'],
  },
  'integer without an end': {
    kind: integerBetween(0),
    accepts: 'a whole number of 0 or more',
    good: [['9007199254740991', Number.MAX_SAFE_INTEGER]],
    bad: ['9007199254740992', '-1'],
  },
  boolean: {
    kind: boolean,
    accepts: 'true or false, yes or no, on or off, 1 or 0',
    good: [
      [true, true],
      ['false', false],
      ['TRUE', true],
      ...['1', 'yes', 'ON'].map((word) => [word, true] as const),
      ...['0', 'no', 'Off'].map((word) => [word, false] as const),
    ],
    bad: ['maybe', '', 2, null, 'toString'],
  },
  choice: {
    kind: choice(['a', 'b']),
    accepts: 'one of a, b',
    good: same('a', 'b'),
    bad: ['A', 'c', '', null],
  },
  text: {
    kind: text('two letters', /^[a-z]{2}$/),
    accepts: 'two letters',
    good: [
      ['ab', 'ab'],
      [' ab ', 'ab'],
    ],
    bad: ['abc', '', {}],
  },
  secret: {
    kind: secretText,
    accepts: 'any text that is not empty',
    good: [
      [' with blanks ', ' with blanks '],
      ['line\r\n', 'line'],
    ],
    bad: ['', '  ', 5, null],
  },
  path: {
    kind: path,
    accepts: 'a path',
    good: [
      ['~/x', join(homedir(), 'x')],
      ['/a/../b', '/b'],
      ['~', homedir()],
      [' /a ', '/a'],
      ['c', join(process.cwd(), 'c')],
    ],
    bad: ['', ' ', 'a\0b', 5],
  },
  url: {
    kind: url('ws', 'wss'),
    accepts: 'a URL that begins with ws:// or wss://',
    good: same('ws://localhost:8546', 'wss://user:pass@node.example/v3/key?a=b'),
    bad: ['localhost:8546', 'http://node', 'ws://', 'ws:', ''],
  },
  address: {
    kind: hostAndPort,
    accepts: 'host:port, as in 0.0.0.0:8080 or [::]:8080',
    good: [
      ['0.0.0.0:8080', { host: '0.0.0.0', port: 8080 }],
      ['[::1]:0', { host: '::1', port: 0 }],
      ['a:65535', { host: 'a', port: 65_535 }],
      [':9181', { host: '0.0.0.0', port: 9181 }],
      ['node-0.svc:80', { host: 'node-0.svc', port: 80 }],
    ],
    bad: ['8080', 'localhost', 'a:65536', '::1:80', '[1.2.3.4]:80', 'http://a:80', 'a b:80'],
  },
  account: {
    kind: account,
    accepts: 'an address: 0x and 40 hex digits, in one case or with the checksum of EIP-55',
    good: [checksummed, `0x${digits}`, `0x${digits.toUpperCase()}`].map((written) => [
      written,
      checksummed,
    ]),
    bad: [
      checksummed.replace('aA', 'Aa'),
      `0x${digits.replace(/[a-f]/, (letter) => letter.toUpperCase())}`,
      checksummed.slice(0, -1),
      `${checksummed}0`,
      digits,
      `0x${'g'.repeat(40)}`,
      5,
    ],
  },
  list: {
    kind: list(integerBetween(1, 9)),
    accepts: 'a list in which each entry is a whole number from 1 to 9',
    good: [
      ['1, 2,, ,3', [1, 2, 3]],
      [
        [1, '2'],
        [1, 2],
      ],
      [4, [4]],
      [[], []],
    ],
    bad: ['1,x', [0], {}],
  },
  'listen address': {
    kind: listenMultiaddr,
    accepts: '/ip4/<address>/tcp/<port> or /ip6/<address>/tcp/<port>',
    good: same('/ip4/0.0.0.0/tcp/9171', '/ip6/::/tcp/0', '/ip4/0.0.0.0/tcp/65535'),
    bad: [
      '/ip4/0.0.0.0/tcp/65536',
      '/ip4/::/tcp/1',
      '/ip6/0.0.0.0/tcp/1',
      `/ip4/0.0.0.0/tcp/1/p2p/${peerId}`,
      '/ip4/0.0.0.0',
      '/ip4/300.0.0.1/tcp/1',
      '/dns4/a/tcp/1',
      '/ip4/0.0.0.0/tcp/1/',
      '0.0.0.0:9171',
    ],
  },
  peer: {
    kind: peerMultiaddr,
    accepts:
      '/ip4/<address>/tcp/<port>/p2p/<peer id> (also ip6, dns4, dns6, dns), with the peer ID that the health endpoint of that node shows under p2p.self.id',
    good: same(
      `/ip4/203.0.113.9/tcp/9171/p2p/${peerId}`,
      `/dns4/generator.example.org/tcp/9171/p2p/${peerId}`,
      `/ip6/2001:db8::1/tcp/9171/p2p/${peerId}`,
    ),
    bad: [
      '/ip4/203.0.113.9/tcp/9171',
      `/ip4/203.0.113.9/tcp/0/p2p/${peerId}`,
      `/ip4/203.0.113.9/tcp/9171/p2p/${peerId}x`,
      `/ip4/203.0.113.9/tcp/9171/p2p/${peerId.replace('H', '0')}`,
      `/ip4/203.0.113.9/udp/9171/quic-v1/p2p/${peerId}`,
      `/ip4/a/tcp/9171/p2p/${peerId}`,
    ],
  },
  'announced address': {
    kind: anyMultiaddr,
    accepts: '/ip4/<address>/tcp/<port> (also ip6, dns4, dns6, dns)',
    good: same(
      '/ip4/203.0.113.9/tcp/30171',
      '/dns/a.example/tcp/1',
      `/dns6/a.example/tcp/1/p2p/${peerId}`,
    ),
    bad: ['/ip4/203.0.113.9/tcp/0', 'a.example:1', '/dns/a..b-/tcp/1', '/dns/a/tcp/1/p2p/x'],
  },
}

for (const [name, { kind, accepts, good, bad }] of Object.entries(cases)) {
  test(`${name} accepts ${accepts}`, () => {
    assert.equal(kind.accepts, accepts)
    for (const [written, expected] of good) {
      assert.deepEqual(kind.schema.safeParse(written).data, expected, String(written))
    }
    for (const written of bad) {
      assert.equal(kind.schema.safeParse(written).success, false, String(written))
    }
  })

  test(`${name}: whatever YAML or a variable holds is accepted or refused, and never throws`, () => {
    const property = fc.property(fc.oneof(fc.string(), fc.anything()), (value) => {
      kind.schema.safeParse(value)
    })
    fc.assert(property, { numRuns: 200 })
  })
}
