import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hideInLog, hideInObject, hideInText } from '../../../../operator/plugin/report/hide.ts'

for (const [what, text, shown] of [
  [
    'the key in a path',
    'https://mainnet.example.org/v3/0a1b2c',
    'https://mainnet.example.org/(hidden)',
  ],
  [
    'the key in a query',
    'wss://node.example.org:8546?key=0a1b2c',
    'wss://node.example.org:8546/(hidden)',
  ],
  ['user and password', 'http://me:secret@10.0.0.1:8545/', 'http://10.0.0.1:8545/'],
  ['a password with an @ and a comma', 'http://me:p@s,s@node/', 'http://node/'],
  ['all URLs of a list', 'http://a/x,http://b/y', 'http://a/(hidden),http://b/(hidden)'],
] as const) {
  test(`${what} of a URL is hidden, and where it leads to is not`, () => {
    assert.equal(hideInText(text), shown)
  })
}

test('what is no URL and holds nothing is left as it is', () => {
  for (const text of [
    '/ip4/192.0.2.1/tcp/9171/p2p/12D3',
    'keys-mainnet-host-0: 1Gi',
    'http://node:8545',
    'a://',
  ]) {
    assert.equal(hideInText(text), text)
  }
})

test('of what follows the host of a URL nothing is shown, whatever it is', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9_%-]{8,40}$/)
  fc.assert(
    fc.property(secret, fc.constantFrom('/v3/', '?key=', '/#', '/a/b?c='), (value, before) => {
      const shown = hideInText(`url "https://node.example.org${before}${value}" failed`)
      assert.ok(!shown.includes(value), shown)
      assert.match(shown, /^url "https:\/\/node\.example\.org\/\(hidden\)" failed$/)
    }),
  )
})

test('a long text that begins like a URL everywhere is read in no time, and so is a long scheme', () => {
  const text = 'a.'.repeat(1_000_000)
  assert.equal(hideInText(text), text)
  const scheme = 'a'.repeat(40)
  assert.equal(hideInText(`${scheme}://me:secret@node/key`), `${scheme}://node/(hidden)`)
})

test('values that a line of a log names as secret are hidden, in JSON and in text', () => {
  const lines = [
    ['{"token":"abc123","height":7}', '{"token":"(hidden)","height":7}'],
    ['authorization: Bearer abc.def', 'authorization: (hidden)'],
    ['"{\\"apiKey\\":\\"abc\\"}"', '"{\\"apiKey\\":\\"(hidden)\\"}"'],
    ['password=abc next', 'password=(hidden) next'],
    ['3 tokens were transferred', '3 tokens were transferred'],
  ] as const
  for (const [line, shown] of lines) assert.equal(hideInLog(line), shown)
})

test('an object loses values of variables, copies of itself, and keys in URLs; the rest stays', () => {
  const copies = {
    'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{"key":"abc"}}',
    'viewmesh.io/pod-template': '{"env":[{"name":"A","value":"abc"}]}',
  }
  const valueFrom = { secretKeyRef: { name: 'a', key: 'b' } }
  const object = {
    metadata: {
      name: 'a',
      managedFields: [{ manager: 'x' }],
      annotations: { ...copies, kept: 'yes' },
    },
    spec: {
      replicas: 2,
      paused: false,
      upstream: { url: { http: ['https://node.example.org/abc'] } },
      podTemplate: {
        spec: {
          containers: [
            {
              env: [
                { name: 'A', value: 'abc' },
                { name: 'B', valueFrom },
              ],
            },
          ],
        },
      },
    },
    status: null,
  }
  assert.deepEqual(hideInObject(object), {
    metadata: { name: 'a', annotations: { kept: 'yes' } },
    spec: {
      replicas: 2,
      paused: false,
      upstream: { url: { http: ['https://node.example.org/(hidden)'] } },
      podTemplate: {
        spec: {
          containers: [
            {
              env: [
                { name: 'A', value: '(hidden)' },
                { name: 'B', valueFrom },
              ],
            },
          ],
        },
      },
    },
    status: null,
  })
})

test('of bytes in a ConfigMap their number is shown, under their key', () => {
  const binaryData = { '0x1.view': Buffer.alloc(1_000, 1).toString('base64'), empty: '' }
  assert.deepEqual(hideInObject({ kind: 'ConfigMap', binaryData }), {
    kind: 'ConfigMap',
    binaryData: { '0x1.view': '(1000 bytes)', empty: '(0 bytes)' },
  })
})

test('a label that is named env stays, and so does what is no variable among those', () => {
  const object = { labels: { env: 'production' }, env: ['A', null, 7, { name: 'A' }] }
  assert.deepEqual(hideInObject(object), object)
})
