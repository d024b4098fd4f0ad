/** Whether what is passed on among peers bears the signature of whom it names. */
import { isValidSignature } from '../identity/signature.ts'
import { type Head, headDigest } from '../primitives/head.ts'
import { type Seal, sealDigest } from '../primitives/seal.ts'
import { type RowStatement, rowsDigest } from '../row-votes/row-statement.ts'

/** Whether its signer made a seal. */
export function isSealSigned(seal: Seal): boolean {
  const { signatureType, signatureIdentity, signatureValue } = seal
  return isValidSignature(signatureType, signatureIdentity, sealDigest(seal), signatureValue)
}

/** Whether its signer made a head. */
export function isHeadSigned(head: Head): boolean {
  const { signatureType, signatureIdentity, signatureValue } = head
  return isValidSignature(signatureType, signatureIdentity, headDigest(head), signatureValue)
}

/** Whether its Host made a statement, of which its root is what counts. */
export function isStatementSigned(statement: Omit<RowStatement, 'leaves' | 'proofs'>): boolean {
  const { signatureType, signatureIdentity, signatureValue } = statement
  return isValidSignature(signatureType, signatureIdentity, rowsDigest(statement), signatureValue)
}
