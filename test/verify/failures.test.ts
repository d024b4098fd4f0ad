import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { failureReasons } from '../../src/verify/failure.ts'
import { verifyDocument } from '../../src/verify/verify.ts'
import {
  type Answered,
  alice,
  bob,
  carol,
  documentOf,
  outcomeOf,
} from '../support/chain/answered-documents.ts'

const byAlice = { identities: [alice.identity] }
const otherHash = 'ab'.repeat(32)

interface Case {
  readonly name: string
  readonly code: keyof typeof failureReasons
  /** What the answer of an honest Host becomes. */
  readonly change: (document: Answered) => unknown
  /** Default Alice alone. */
  readonly acceptance?: { readonly identities: readonly string[]; readonly minimum?: number }
}

type Proof = Answered['_proof']

const withProof = (change: (proof: Proof) => object) => (document: Answered) => ({
  ...document,
  _proof: { ...document._proof, ...change(document._proof) },
})
const without = (name: string) => (document: Answered) => ({ ...document, [name]: undefined })

const cases: readonly Case[] = [
  { name: 'no `_proof`', code: 'proof-missing', change: without('_proof') },
  { name: 'no document', code: 'proof-missing', change: () => null },
  {
    name: 'a proof without its seals',
    code: 'proof-incomplete',
    change: withProof(() => ({ seals: undefined })),
  },
  {
    name: 'a proof with half a block',
    code: 'proof-incomplete',
    change: withProof(({ block }) => ({ block: { hash: block.hash } })),
  },
  {
    name: 'a seal without who signed it',
    code: 'proof-incomplete',
    change: withProof(() => ({ seals: [{ type: 'ES256K', value: '30' }] })),
  },
  {
    name: 'a path of 31 hashes, as no tree of this count has',
    code: 'path-wrong',
    change: withProof(() => ({ path: Array(31).fill(otherHash) })),
  },
  {
    name: 'a path of 32 hashes, as no tree has',
    code: 'proof-malformed',
    change: withProof(() => ({ path: Array(32).fill(otherHash) })),
  },
  {
    name: '256 seals, none of them of Alice',
    code: 'identity-unknown',
    change: withProof(() => ({ seals: Array(256).fill(sealBy(carol.identity)) })),
  },
  {
    name: '257 seals',
    code: 'proof-malformed',
    change: withProof(() => ({ seals: Array(257).fill(sealBy(carol.identity)) })),
  },
  {
    name: 'seals with a hole among them',
    code: 'proof-malformed',
    change: withProof(({ seals: [seal] }) => ({ seals: Object.assign([], { 1: seal }) })),
  },
  {
    name: 'a count of 2^31',
    code: 'proof-malformed',
    change: withProof(() => ({ count: 2 ** 31 })),
  },
  {
    name: 'a root in capital letters',
    code: 'proof-malformed',
    change: withProof(({ root }) => ({ root: root.toUpperCase() })),
  },
  {
    name: 'a document that says it is a leaf of no tree',
    code: 'leaf-missing',
    change: withProof(() => ({ cid: null, index: null })),
  },
  {
    name: 'a `_docID` of another service',
    code: 'docid-malformed',
    change: (document) => ({ ...document, _docID: 'bae-123' }),
  },
  {
    name: 'a snapshot',
    code: 'snapshot-unproven',
    change: (document) => ({ ...document, _docID: `snapshot-1-2-${alice.identity}` }),
  },
  {
    name: 'a block that nobody sealed',
    code: 'seal-missing',
    change: withProof(() => ({ seals: [] })),
  },
  {
    name: 'seals of strangers',
    code: 'identity-unknown',
    change: (document) => document,
    acceptance: { identities: [carol.identity] },
  },
  {
    name: 'fewer seals than are wanted',
    code: 'signers-missing',
    change: (document) => document,
    acceptance: { identities: [alice.identity, bob.identity, carol.identity], minimum: 3 },
  },
  {
    name: 'the same seal twice',
    code: 'signers-missing',
    change: withProof(({ seals: [seal] }) => ({ seals: [seal, seal] })),
    acceptance: { identities: [alice.identity, bob.identity], minimum: 2 },
  },
  {
    name: 'the signature of another under her identity',
    code: 'signature-wrong',
    change: withProof(({ seals }) => ({ seals: [{ ...seals[1], identity: alice.identity }] })),
  },
  {
    name: 'another height',
    code: 'signature-wrong',
    change: withProof(({ block }) => ({ block: { ...block, number: block.number + 1 } })),
  },
  {
    name: 'another network',
    code: 'signature-wrong',
    change: withProof(() => ({ network: 'Ethereum__Sepolia' })),
  },
  {
    name: 'another sibling in the path',
    code: 'path-wrong',
    change: withProof(({ path }) => ({ path: [otherHash, ...path.slice(1)] })),
  },
  {
    name: 'the place of another document',
    code: 'path-wrong',
    change: withProof(({ index }) => ({ index: index ^ 1 })),
  },
  {
    name: 'another root',
    code: 'root-wrong',
    change: withProof(() => ({ root: otherHash })),
  },
  {
    name: 'another root that nobody sealed',
    code: 'seal-missing',
    change: withProof(() => ({ root: otherHash, seals: [] })),
  },
  {
    name: 'another value',
    code: 'cid-wrong',
    change: (document) => ({ ...document, logIndex: 77 }),
  },
  {
    name: 'values under each other’s names, by aliases',
    code: 'cid-wrong',
    change: (document) => ({
      ...document,
      blockHash: document['transactionHash'],
      transactionHash: document['blockHash'],
    }),
  },
  {
    name: 'a value in capital letters',
    code: 'value-malformed',
    change: (document) => ({ ...document, data: `0x${String(document['data']).slice(2)}AB` }),
  },
]

function sealBy(identity: string): object {
  return { type: 'ES256K', identity, value: '30' }
}

describe('nothing is proven by', () => {
  for (const { name, code, change, acceptance } of cases) {
    test(`${name}: ${code}`, () => {
      const verdict = verifyDocument(change(documentOf('log-')), acceptance ?? byAlice)
      assert.equal(outcomeOf(verdict), code)
    })
  }

  test('every reason has its case', () => {
    const shown = new Set(cases.map(({ code }) => code))
    const elsewhere = ['too-deep', 'seal-differs']
    assert.deepEqual(
      Object.keys(failureReasons).filter((code) => !shown.has(code as Case['code'])),
      elsewhere.toSorted((a, b) => a.localeCompare(b)),
    )
  })
})

const forms: Readonly<Record<string, readonly [string, string, unknown]>> = {
  'a list in the place of a hash': ['log-', 'blockHash', []],
  'a hash in the place of a list': ['log-', 'topics', otherHash],
  'a null in a list': ['log-', 'topics', [null]],
  'a null where each document has a value': ['log-', 'address', null],
  'a hash that is too short': ['log-', 'transactionHash', '0xab'],
  'an odd number of digits': ['log-', 'data', '0xabc'],
  'an address with a wrong checksum': [
    'block-',
    'miner',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed',
  ],
  'a padded quantity': ['tx-', 'value', '0x01'],
  'a quantity of 257 bits': ['tx-', 'value', `0x1${'0'.repeat(64)}`],
  'a decimal of 257 bits': ['tx-', 'value', (2n ** 256n).toString()],
  'a decimal with a zero in front': ['tx-', 'value', '007'],
  'a number in the place of a quantity': ['tx-', 'value', 7],
  'a text in the place of a number': ['tx-', 'transactionIndex', '0'],
  'a height of 2^31': ['tx-', 'blockNumber', 2 ** 31],
  'a text in the place of a boolean': ['tx-', 'status', 'true'],
  'half a character': ['log-', 'removed', '\ud800'],
}

describe('a value is refused that no Host answers:', () => {
  for (const [name, [prefix, field, value]] of Object.entries(forms)) {
    test(name, () => {
      const verdict = verifyDocument({ ...documentOf(prefix), [field]: value }, byAlice)
      assert.equal(outcomeOf(verdict), 'value-malformed')
      assert.match(
        verdict.proves === 'nothing' ? verdict.failure.message : '',
        new RegExp(`\\.${field} `),
      )
    })
  }

  test('a list of more than a million items, and not one of a million', () => {
    for (const [length, code] of [
      [1_000_000, 'cid-wrong'],
      [1_000_001, 'value-malformed'],
    ] as const) {
      const topics = Array(length).fill(`0x${otherHash}`)
      assert.equal(outcomeOf(verifyDocument({ ...documentOf('log-'), topics }, byAlice)), code)
    }
  })

  test('a value of more than 32 MiB, and not one of 32 MiB', () => {
    const bytes = 32 * 1024 * 1024
    for (const [length, code] of [
      [bytes, 'cid-wrong'],
      [bytes + 1, 'value-malformed'],
    ] as const) {
      const data = `0x${'ab'.repeat(length)}`
      assert.equal(outcomeOf(verifyDocument({ ...documentOf('log-'), data }, byAlice)), code)
    }
  })
})

describe('the messages name the facts of the case', () => {
  const messageOf = (document: unknown, acceptance = byAlice): string => {
    const verdict = verifyDocument(document, acceptance)
    return verdict.proves === 'nothing' ? verdict.failure.message : ''
  }

  test('name what the query has to ask for', () => {
    const change = withProof(({ block }) => ({ block: { hash: block.hash }, seals: undefined }))
    assert.equal(
      messageOf(change(documentOf('log-'))),
      'The proof lacks seals, block.number. Ask for _proof { network cid index count path root block { number hash } seals { type identity value } }.',
    )
  })

  test('name the signers where none of them is accepted', () => {
    assert.equal(
      messageOf(documentOf('log-'), { identities: [carol.identity] }),
      `None of the identities that signed is accepted: ${alice.identity}, ${bob.identity}.`,
    )
  })

  test('name three of many strangers who signed, and count the others', () => {
    const strangers = ['1', '2', '3', '4', '5'].map((digit) => digit.repeat(64))
    const seals = [...strangers, ...strangers].map(sealBy)
    assert.equal(
      messageOf(withProof(() => ({ seals }))(documentOf('log-'))),
      `None of the identities that signed is accepted: ${strangers.slice(0, 3).join(', ')}, 2 more.`,
    )
  })

  test('name how many signers are missing', () => {
    const acceptance = { identities: [alice.identity, carol.identity], minimum: 2 }
    assert.equal(
      messageOf(documentOf('log-'), acceptance),
      'Of the accepted identities 2 have to sign, and 1 did.',
    )
  })

  test('hold nothing that was not checked', () => {
    const evil = '\u001b[2Jowned'
    const seals = [{ type: evil, identity: evil, value: evil }]
    const message = messageOf(withProof(() => ({ seals }))(documentOf('log-')))
    assert.equal(message, 'None of the identities that signed is accepted: 1 more.')
  })
})

describe('an acceptance that cannot be meant throws', () => {
  const refusals: Readonly<
    Record<string, readonly [readonly string[], number | undefined, RegExp]>
  > = {
    'no identity': [[], undefined, /^No identity is accepted\.$/],
    'what is no identity': [['02AB'], undefined, /^"02AB" is no identity\.$/],
    'a long text, of which 80 characters are shown': [
      ['x'.repeat(81)],
      undefined,
      /^"x{80}" is no identity\.$/,
    ],
    'an identity in capital letters': [[alice.identity.toUpperCase()], undefined, /is no identity/],
    'a minimum of 0': [[alice.identity], 0, /^Of 1 accepted identities 0 cannot have signed\.$/],
    'a minimum that is no whole number': [[alice.identity, bob.identity], 1.5, /1\.5 cannot/],
    'a minimum above the number of identities': [
      [alice.identity],
      2,
      /^Of 1 accepted identities 2 cannot have signed\.$/,
    ],
  }
  for (const [name, [identities, minimum, message]] of Object.entries(refusals)) {
    test(name, () => {
      const acceptance = minimum === undefined ? { identities } : { identities, minimum }
      assert.throws(() => verifyDocument(documentOf('log-'), acceptance), {
        code: 'VERIFY_ACCEPTANCE_INVALID',
        message,
        remedy: /\/health \(\.identity\)/,
      })
    })
  }

  test('an identity twice, which counts once', () => {
    const identities = [alice.identity, bob.identity, alice.identity]
    assert.throws(() => verifyDocument(documentOf('log-'), { identities, minimum: 2 }), {
      code: 'VERIFY_ACCEPTANCE_INVALID',
      message: `The identity ${alice.identity} is given twice.`,
      remedy: 'Leave one of the two out, or replace it by that of another Generator.',
    })
  })
})
