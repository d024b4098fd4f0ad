/** Heads of made-up Generators. */
import type { Signer } from '../../src/identity/signature.ts'
import { encodeHead, type HeadStatement, headDigest } from '../../src/primitives/head.ts'
import { namedHash } from './opaque-blocks.ts'

/** The genesis of made-up chains. */
export const testGenesis: string = namedHash('genesis of tests')

/** The message of a head; what is left out is as of a Generator that stands where its node does. */
export function signedHead(
  statement: Pick<HeadStatement, 'number' | 'hash' | 'sequence'> & Partial<HeadStatement>,
  signer: Signer,
): Uint8Array {
  const full: HeadStatement = {
    network: 'Local__Devnet',
    genesisHash: testGenesis,
    nodeHeight: statement.number,
    ...statement,
  }
  const message = encodeHead({
    ...full,
    signatureType: signer.type,
    signatureIdentity: signer.identity,
    signatureValue: signer.sign(headDigest(full)),
  })
  return new Uint8Array(message)
}
