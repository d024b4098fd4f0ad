/** Every rule a sealed block must keep, each with a message that breaks it, and what is accepted. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  type BlockRuleName,
  type Finding,
  type RuleAction,
  rules,
  type VerifyContext,
  verifyMessage,
} from '../../../src/host/apply/verify.ts'
import { type Seal, sealDigest } from '../../../src/primitives/seal.ts'
import { encodeSealedBlock } from '../../../src/primitives/sealed-block.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { sealBlock, signSeal, testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'

const alice = testSigner('alice')
const bob = testSigner('bob', 'Ed25519')
const [first, second] = createChain({ count: 2, from: 100 }).map((block) => sealBlock(block, alice))
assert.ok(first !== undefined && second !== undefined)
const byBob = signSeal(
  { network: testNetwork, number: 100, hash: first.hash, cids: first.cids },
  bob,
)

/** Bob's, rightly signed over another statement about the first block. */
function misstated(changes: Partial<Seal>): Seal {
  const { signatureType, signatureIdentity, createdAt, ...statement } = byBob
  const wrong = { ...statement, ...changes }
  const signatureValue = bob.sign(sealDigest(wrong))
  return { ...wrong, signatureType, signatureIdentity, createdAt, signatureValue }
}

/** Over the right root and one document too many. */
const miscounted = misstated({ cidCount: byBob.cidCount + 1 })

/** Each part of a statement as that of another block has it. */
const otherStatements: Readonly<Record<string, Partial<Seal>>> = {
  number: { blockNumber: 101 },
  'block hash': { blockHash: second.hash },
  root: { merkleRoot: second.seal.merkleRoot },
  count: { cidCount: byBob.cidCount + 1 },
}

function contextWith(changes: Partial<VerifyContext> = {}): VerifyContext {
  return {
    network: testNetwork,
    maxRawBytes: 1024 * 1024,
    isForwarded: true,
    isAccepted: () => true,
    floor: () => 0,
    ceiling: () => 1_000,
    documents: () => null,
    hasSeal: () => false,
    hasSignature: () => false,
    ...changes,
  }
}

/** Of a Host that has the first block with Alice's seal. */
const storedFirst = contextWith({
  documents: ({ blockHash, merkleRoot }) =>
    blockHash === first.hash && merkleRoot === first.seal.merkleRoot
      ? { count: first.seal.cidCount, body: () => first.body }
      : null,
  hasSignature: ({ signatureValue }) => signatureValue === first.seal.signatureValue,
  hasSeal: (seal) =>
    seal.blockHash === first.hash &&
    seal.merkleRoot === first.seal.merkleRoot &&
    seal.signatureIdentity === alice.identity,
})
const onlyBob = contextWith({ isAccepted: (identity) => identity === bob.identity })
const sealed = (...seals: Seal[]): Finding => ({ kind: 'seals', height: 100, seals })

interface Breaking {
  readonly bytes: Uint8Array
  readonly context?: VerifyContext
}

const breaking: { readonly [N in BlockRuleName]: Breaking } = {
  'well-formed': { bytes: new Uint8Array([0x83, 1, 2, 3]) },
  'own-network': {
    bytes: first.bytes,
    context: contextWith({ network: 'Ethereum__Sepolia' }),
  },
  'one-statement': { bytes: encodeSealedBlock([first.seal, { ...second.seal }], first.body) },
  'accepted-signer': { bytes: first.bytes, context: onlyBob },
  'within-window': { bytes: first.bytes, context: contextWith({ floor: () => 101 }) },
  'something-new': { bytes: first.bytes, context: storedFirst },
  'valid-signature': {
    bytes: encodeSealedBlock(
      [{ ...first.seal, signatureValue: second.seal.signatureValue }],
      first.body,
    ),
  },
  'sound-documents': {
    bytes: encodeSealedBlock([first.seal], first.body.subarray(0, first.body.length - 1)),
  },
  'sealed-documents': { bytes: encodeSealedBlock([first.seal], second.body) },
}

describe('each rule finds the message that breaks it and keeps all rules before it', () => {
  for (const [position, { name, action, text }] of rules.entries()) {
    test(`[${action.toUpperCase()}] ${text}`, () => {
      const { bytes, context = contextWith() } = breaking[name]
      const finding = verifyMessage(bytes, context)
      assert.equal(finding.kind, 'breach')
      assert.deepEqual(
        { action: finding.action, rule: finding.rule, position },
        { action, rule: name, position },
      )
      assert.equal(finding.height, name === 'well-formed' ? null : 100)
    })
  }

  test('a sender that cannot know is ignored, one that forged is rejected', () => {
    const actions = Object.fromEntries(rules.map(({ name, action }) => [name, action]))
    const ignored: RuleAction = 'ignore'
    assert.deepEqual(
      Object.keys(actions).filter((name) => actions[name] === ignored),
      ['accepted-signer', 'within-window', 'something-new'],
    )
  })
})

describe('documents are refused where any part of the signed statement is about others', () => {
  for (const [part, changes] of Object.entries(otherStatements))
    test(`documents are refused under a statement of another ${part}, rightly signed`, () => {
      const finding = verifyMessage(
        encodeSealedBlock([misstated(changes)], first.body),
        contextWith(),
      )
      assert.deepEqual(finding.kind === 'breach' && [finding.action, finding.rule], [
        'reject',
        'sealed-documents',
      ])
    })
})

describe('seals of one message that state different things are refused', () => {
  for (const [part, changes] of Object.entries(otherStatements))
    test(`a seal of another ${part} is refused beside the right one`, () => {
      const both = encodeSealedBlock([first.seal, misstated(changes)], first.body)
      const finding = verifyMessage(both, contextWith())
      assert.equal(finding.kind === 'breach' && finding.rule, 'one-statement')
    })

  test('a seal of another network, rightly signed, is refused beside the right one', () => {
    const other = misstated({ network: 'Ethereum__Sepolia' })
    for (const seals of [
      [first.seal, other],
      [other, first.seal],
    ]) {
      const finding = verifyMessage(encodeSealedBlock(seals, first.body), contextWith())
      assert.equal(finding.kind === 'breach' && finding.rule, 'own-network')
    }
  })

  test('two seals of one signer are refused, though they state the same', () => {
    const twice = [first.seal, { ...first.seal, createdAt: '2030-01-01T00:00:00Z' }]
    const finding = verifyMessage(encodeSealedBlock(twice, first.body), contextWith())
    assert.equal(finding.kind === 'breach' && finding.rule, 'one-statement')
  })
})

describe('what is accepted', () => {
  test('[ACCEPT] a block that is not known yet, with the documents that were sealed', () => {
    const finding = verifyMessage(first.bytes, contextWith())
    assert.equal(finding.kind, 'block')
    assert.equal(finding.documents.hash, first.hash)
    assert.equal(finding.documents.root, first.seal.merkleRoot)
    assert.deepEqual(finding.seals, [first.seal])
    assert.deepEqual(Buffer.from(finding.body), Buffer.from(first.body))
  })

  test('[ACCEPT] another signer’s seal on a known block, alone or with the same documents', () => {
    for (const body of [first.body, null])
      assert.deepEqual(
        verifyMessage(encodeSealedBlock([first.seal, byBob], body), storedFirst),
        sealed(byBob),
      )
  })

  test('[ACCEPT] and then without unpacking the documents that are here once more', () => {
    const again = encodeSealedBlock([first.seal, byBob], first.body)
    const within = { ...storedFirst, maxRawBytes: 1 }
    assert.deepEqual(verifyMessage(again, within), sealed(byBob))
    const count = first.seal.cidCount
    const gone = { ...within, documents: () => ({ count, body: () => null }) }
    const finding = verifyMessage(again, gone)
    assert.equal(finding.kind === 'breach' && finding.rule, 'sound-documents')
    assert.deepEqual(verifyMessage(again, { ...gone, maxRawBytes: 1024 * 1024 }), sealed(byBob))
  })

  test('[ACCEPT] and with whatever documents where it was pulled: nobody else gets them', () => {
    const again = encodeSealedBlock([first.seal, byBob], new Uint8Array([1, 2, 3]))
    assert.deepEqual(verifyMessage(again, { ...storedFirst, isForwarded: false }), sealed(byBob))
  })

  test('[ACCEPT] a Generator’s differing root for a known block is a vote for that root', () => {
    const other = signSeal({ ...byBob, number: 100, hash: first.hash, cids: second.cids }, bob)
    assert.deepEqual(verifyMessage(encodeSealedBlock([other], null), storedFirst), sealed(other))
  })

  test('[ACCEPT] the seal alone of a block too large to gossip', () => {
    const finding = verifyMessage(encodeSealedBlock([first.seal], null), contextWith())
    assert.deepEqual(finding, sealed(first.seal))
  })

  test('[ACCEPT] the documents of a block whose seal came before', () => {
    const context = contextWith({ hasSeal: storedFirst.hasSeal })
    assert.equal(verifyMessage(first.bytes, context).kind, 'block')
  })

  test('far above what signers have reached nothing is of use, and what is just kept is', () => {
    const finding = verifyMessage(first.bytes, contextWith({ ceiling: () => 99 }))
    assert.equal(finding.kind === 'breach' && finding.rule, 'within-window')
    for (const changes of [{ ceiling: () => 100 }, { floor: () => 100 }])
      assert.equal(verifyMessage(first.bytes, contextWith(changes)).kind, 'block')
  })

  test('of a block that is pulled the seals of strangers are left out, the others count', () => {
    const both = encodeSealedBlock([first.seal, byBob], first.body)
    const finding = verifyMessage(both, { ...onlyBob, isForwarded: false })
    assert.equal(finding.kind, 'block')
    assert.deepEqual(finding.seals, [byBob])
  })

  test('a block that is pulled with seals of strangers alone is of no use', () => {
    const finding = verifyMessage(first.bytes, { ...onlyBob, isForwarded: false })
    assert.equal(finding.kind === 'breach' && finding.rule, 'accepted-signer')
  })

  test('a message that would be passed on bears no seal of a stranger', () => {
    const both = encodeSealedBlock([first.seal, byBob], first.body)
    const finding = verifyMessage(both, onlyBob)
    assert.equal(finding.kind === 'breach' && finding.rule, 'accepted-signer')
  })

  test('a message without an accepted signer costs no check of signature or documents', () => {
    const forged = { ...first.seal, signatureValue: second.seal.signatureValue }
    const finding = verifyMessage(encodeSealedBlock([forged], new Uint8Array([1])), onlyBob)
    assert.deepEqual(finding.kind === 'breach' && [finding.rule, finding.action], [
      'accepted-signer',
      'ignore',
    ])
  })

  test('one signer’s statement counts once, whatever the unsigned time says', () => {
    const again: Seal = { ...first.seal, createdAt: '2030-01-01T00:00:00Z' }
    const finding = verifyMessage(encodeSealedBlock([again], first.body), storedFirst)
    assert.equal(finding.kind === 'breach' && finding.rule, 'something-new')
  })
})

describe('what others would reject is not passed on with a good seal beside it', () => {
  const withDocuments = (body: Uint8Array): Uint8Array => encodeSealedBlock([byBob], body)
  const cases: Readonly<
    Record<string, { bytes: Uint8Array; rule: BlockRuleName; action?: RuleAction }>
  > = {
    'bytes that are no documents': {
      bytes: withDocuments(new Uint8Array([1, 2, 3])),
      rule: 'sound-documents',
    },
    'documents of another block': { bytes: withDocuments(second.body), rule: 'sealed-documents' },
    'a known seal with another signature': {
      bytes: encodeSealedBlock(
        [{ ...first.seal, signatureValue: second.seal.signatureValue }, byBob],
        null,
      ),
      rule: 'valid-signature',
    },
    'an accepted signer’s seal over another number of documents': {
      bytes: encodeSealedBlock([miscounted], first.body),
      rule: 'something-new',
      action: 'ignore',
    },
  }
  for (const [name, { bytes, rule, action = 'reject' }] of Object.entries(cases))
    test(name, () => {
      const finding = verifyMessage(bytes, storedFirst)
      assert.deepEqual(finding.kind === 'breach' && [finding.action, finding.rule], [action, rule])
    })
})

describe('any bytes', () => {
  test('are checked without an exception and never taken for a block', () => {
    const finding = (bytes: Uint8Array): Finding => verifyMessage(bytes, contextWith())
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300, size: 'max' }), (bytes) => {
        assert.equal(finding(bytes).kind, 'breach')
      }),
    )
  })

  test('a block with any one byte changed is refused, unless only the unsigned time changed', () => {
    const index = fc.nat(first.bytes.length - 1)
    fc.assert(
      fc.property(index, fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bytes = Uint8Array.from(first.bytes)
        bytes[at] = (bytes[at] ?? 0) ^ change
        const result = verifyMessage(bytes, contextWith())
        if (result.kind === 'breach') return
        assert.equal(result.kind, 'block')
        const [seal] = result.seals
        assert.deepEqual({ ...seal, createdAt: '' }, { ...first.seal, createdAt: '' })
        assert.equal(result.documents.root, first.seal.merkleRoot)
      }),
      { numRuns: 400 },
    )
  })
})
