/**
 * Writes test/fixtures/primitives/statements.json: what Generators and Hosts sign beside seals, as bytes.
 * Run by hand (`npx node test/primitives/make-statements.ts`) when a case is added; a change of an
 * existing one breaks every node that runs today.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createSigner } from '../../src/identity/signature.ts'
import { encodeHead, type HeadStatement, headDigest } from '../../src/primitives/head.ts'
import {
  encodeIdentityProof,
  type IdentityStatement,
  identityDigest,
} from '../../src/primitives/identity-proof.ts'
import type { Signature, SignatureType } from '../../src/primitives/signature.ts'

const madeUp = (name: string): string => createHash('sha256').update(name).digest('hex')
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function signed(type: SignatureType, digest: Uint8Array): Signature & { privateKey: string } {
  const privateKey = madeUp(`a key of ${type} for vectors`)
  const signer = createSigner({ type, privateKey: Buffer.from(privateKey, 'hex') })
  return {
    privateKey,
    signatureType: type,
    signatureIdentity: signer.identity,
    signatureValue: signer.sign(digest),
  }
}

const headStatements: readonly HeadStatement[] = [
  {
    network: 'Ethereum__Mainnet',
    genesisHash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    number: 23_000_000,
    hash: `0x${madeUp('head of mainnet')}`,
    sequence: 1_790_000_000_123,
    nodeHeight: 23_000_001,
  },
  {
    network: 'Local__Devnet',
    genesisHash: `0x${madeUp('genesis')}`,
    number: 0,
    hash: `0x${madeUp('genesis')}`,
    sequence: 0,
    nodeHeight: 0,
  },
]

const identityStatements: readonly IdentityStatement[] = [
  {
    network: 'Ethereum__Mainnet',
    role: 'generator',
    peerId: '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5',
  },
  {
    network: 'Local__Devnet',
    role: 'host',
    peerId: '12D3KooWEChVMMMzV8acJ53mJHrw1pQ27UAGkCxWXLJutbeUMvVu',
  },
]

const types: readonly SignatureType[] = ['ES256K', 'Ed25519']
const heads = headStatements.flatMap((statement) =>
  types.map((type) => {
    const digest = headDigest(statement)
    const { privateKey, ...signature } = signed(type, digest)
    const message = hex(encodeHead({ ...statement, ...signature }))
    return { statement, digest: hex(digest), privateKey, ...signature, message }
  }),
)
const identities = identityStatements.flatMap((statement) =>
  types.map((type) => {
    const digest = identityDigest(statement)
    const { privateKey, ...signature } = signed(type, digest)
    const message = hex(encodeIdentityProof({ ...statement, ...signature }))
    return { statement, digest: hex(digest), privateKey, ...signature, message }
  }),
)
const about =
  'Statements, the SHA-256 digest that is signed, a private key with the signature it gives, and the message as it travels; bytes in hex.'
const target = new URL('../fixtures/primitives/statements.json', import.meta.url)
writeFileSync(target, `${JSON.stringify({ about, heads, identities }, null, 1)}\n`)
