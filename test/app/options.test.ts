/** What an application accepts of each option, at its bounds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peerIdFromString } from '@libp2p/peer-id'
import type { AppOptions } from '../../src/app/contract.ts'
import { checkOptions } from '../../src/app/options.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'

const peerID = '12D3KooWSGZofmiJw3d9Fk7TJDVmLpcbzeHkMAQXhoDhxNv9Zjda'
const peer = (port: number): string => `/ip4/127.0.0.1/tcp/${port}/p2p/${peerID}`
const view = namedHash('a View')
const least: AppOptions = { path: 'a folder', views: [view], peers: [peer(1)] }
const compressed = `02${'ab'.repeat(32)}`
const key = 'cd'.repeat(32)
const digits = (index: number): string => index.toString(16).padStart(64, '0')
const many = <T>(length: number, of: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => of(index))

function assertAccepted(options: Partial<AppOptions>): void {
  assert.doesNotThrow(() => checkOptions({ ...least, ...options }))
}

/** What is wrong may be of no type that an option has. */
function assertRefused(option: keyof AppOptions, value: unknown, remedy: RegExp, more = {}): void {
  const facts = { option, found: (JSON.stringify(value) ?? `${value}`).slice(0, 120) }
  assert.throws(
    () => checkOptions({ ...least, ...more, [option]: value }),
    (error: object) => {
      const { message, ...rest } = { message: '', ...error }
      assert.partialDeepStrictEqual(rest, { code: 'APP_OPTION_INVALID', facts })
      assert.match(`${'remedy' in error && error.remedy}`, remedy)
      return true
    },
  )
}

test('what is left out has its default, and nothing is listed twice', () => {
  assert.deepEqual(
    checkOptions({ ...least, views: [view, view.toUpperCase().replace('X', 'x')] }),
    {
      ...{ path: 'a folder', network: 'Ethereum__Mainnet', views: [view], peers: [peer(1)] },
      ...{ hosts: null, signers: new Set(), minimumHosts: 1, minimumAttestations: 0 },
      ...{ from: 0, maxBytes: 4 * 1024 ** 3 },
    },
  )
  const { hosts, signers } = checkOptions({ ...least, hosts: [key, key], signers: [key, key] })
  assert.deepEqual([hosts, signers], [[key], new Set([key])])
})

test('a folder has a name, and a network is a chain and its network', () => {
  for (const path of ['', undefined, 7]) assertRefused('path', path, /the path of a folder/)
  for (const network of ['Ethereum__Mainnet', 'A_b__C', 'A__b_C_d', '1__2'])
    assertAccepted({ network })
  for (const network of [
    '',
    'Ethereum',
    'Ethereum_Mainnet',
    '__Mainnet',
    'A___B',
    'A__B ',
    'A-b__C',
  ])
    assertRefused('network', network, /a chain and a network, as in Ethereum__Mainnet/)
})

test('1 to 64 Views are followed of 1 to 16 peers', () => {
  for (const count of [1, 64])
    assertAccepted({ views: many(count, (index) => `0x${digits(index)}`) })
  for (const count of [0, 65])
    assertRefused(
      'views',
      many(count, () => view),
      /a list of 1 to 64\.$/,
    )
  for (const count of [1, 16]) assertAccepted({ peers: many(count, peer) })
  for (const count of [0, 17]) assertRefused('peers', many(count, peer), /a list of 1 to 16\.$/)
  assertRefused('views', view, /a list of 1 to 64/)
})

test('a peer is the same in each spelling of its address, and what is blank is none', () => {
  const spellings = [
    peer(1),
    ` ${peer(1)}\n`,
    `${peer(1)}/`,
    peer(1).replace(peerID, peerIdFromString(peerID).toCID().toString()),
  ]
  for (const spelling of spellings)
    assert.deepEqual(checkOptions({ ...least, peers: [spelling] }).peers, [peer(1)], spelling)
  assert.deepEqual(checkOptions({ ...least, peers: spellings }).peers, [peer(1)])
  for (const text of ['', ' \n', 7, null])
    assert.throws(() => checkOptions({ ...least, peers: [peer(1), text as string] }), {
      code: 'APP_OPTION_INVALID',
      message: `the option peers is ${JSON.stringify(text)}`,
      remedy: 'Accepted is addresses of Hosts that end in /p2p/ and a peer ID.',
    })
  assert.throws(() => checkOptions({ ...least, peers: ['/ip4/127.0.0.1/tcp/1'] }), {
    code: 'P2P_ADDRESS_INVALID',
  })
})

test('a View is named by its long ID', () => {
  for (const text of [7, [view], '0x12', `0x${'ab'.repeat(20)}`])
    assert.throws(() => checkOptions({ ...least, views: [text as string] }), {
      code: 'APP_OPTION_INVALID',
      remedy: /^Accepted is long IDs of Views, 0x and 64 hexadecimal digits/,
    })
})

test('Hosts and Generators are named by public keys in lower-case hex', () => {
  for (const option of ['hosts', 'signers'] as const) {
    for (const text of [key, compressed, `03${key}`]) assertAccepted({ [option]: [text] })
    const texts = ['', `04${key}`, key.toUpperCase(), key.slice(1), `0${key}`, `0x${key}`]
    for (const wrong of [7, [key], ...texts])
      assert.throws(() => checkOptions({ ...least, [option]: [wrong] }), {
        code: 'APP_OPTION_INVALID',
        message: `the option ${option} is ${JSON.stringify(wrong)}`,
        remedy: /^Accepted is public keys in lower-case hex/,
      })
    assertRefused(option, key, /a list of public keys in hex/)
  }
})

test('as many Hosts have to agree as are named, or as there are peers, each counted once', () => {
  const hosts = [key, compressed, key]
  for (const minimumHosts of [1, 2]) assertAccepted({ hosts, minimumHosts })
  for (const minimumHosts of [0, 3, 1.5, '1'])
    assertRefused('minimumHosts', minimumHosts, /a whole number from 1 to 2\.$/, { hosts })
  const peers = [peer(1), peer(2)]
  assertRefused('minimumHosts', 2, /a whole number from 1 to 1\.$/, { peers })
})

test('numbers are whole and within their bounds', () => {
  const signers = [key, compressed]
  for (const minimumAttestations of [0, 2]) assertAccepted({ signers, minimumAttestations })
  for (const value of [-1, 3])
    assertRefused('minimumAttestations', value, /from 0 to 2\.$/, { signers })
  for (const from of [0, 2 ** 31 - 1]) assertAccepted({ from })
  for (const from of [-1, 2 ** 31, 0.5, Number.NaN])
    assertRefused('from', from, /from 0 to 2147483647/)
  const mebibyte = 1024 * 1024
  for (const maxBytes of [16 * mebibyte, 2 ** 48]) assertAccepted({ maxBytes })
  for (const maxBytes of [16 * mebibyte - 1, 2 ** 48 + 1])
    assertRefused('maxBytes', maxBytes, /from 16777216 to 281474976710656/)
})

test('of what is wrong no more than 120 characters are said', () => {
  const found = JSON.stringify('x'.repeat(200)).slice(0, 120)
  assert.throws(() => checkOptions({ ...least, network: 'x'.repeat(200) }), {
    message: `the option network is ${found}`,
  })
  const option = 'an option '.repeat(12)
  assert.throws(() => checkOptions({ ...least, [`${option}that nobody has`]: 1 }), {
    message: `there is no option ${option}`,
    facts: { option },
  })
})
