/** Heads as a Generator signs them. */
import type { DigestSigner } from '../../../src/identity/signature.ts'
import {
  encodeHead,
  type Head,
  type HeadStatement,
  headDigest,
} from '../../../src/primitives/head.ts'
import { namedHash } from './opaque-blocks.ts'
import { testNetwork } from './sealed-blocks.ts'

/** Block 0 of the chain that heads are of where a test names no other. */
export const testGenesis: string = namedHash('main:0')

/** A validly signed head; by default of a block of `opaqueBlock` at the head of the node. */
export function signHead(
  signer: DigestSigner,
  statement: Partial<HeadStatement> & Pick<HeadStatement, 'number' | 'sequence'>,
): Head {
  const { number } = statement
  const whole = {
    network: testNetwork,
    genesisHash: testGenesis,
    hash: namedHash(`main:${number}`),
    nodeHeight: number,
    ...statement,
  }
  return {
    ...whole,
    signatureType: signer.type,
    signatureIdentity: signer.identity,
    signatureValue: signer.sign(headDigest(whole)),
  }
}

/** The message of such a head. */
export function headMessage(...parts: Parameters<typeof signHead>): Uint8Array {
  return new Uint8Array(encodeHead(signHead(...parts)))
}
