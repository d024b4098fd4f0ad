/** Why a document is not proven: one table of codes, and failures with the facts of a case. */

/** Every code with its meaning, in one sentence. */
export const failureReasons = {
  'proof-missing': 'The answer has no `_proof` for the document.',
  'proof-incomplete': 'The `_proof` lacks fields, because the query did not ask for them.',
  'proof-malformed': 'A field of the `_proof` has a wrong form or is too long.',
  'leaf-missing':
    'Only the `_proof` of a seal, identified by its `_docID`, may lack `cid` and `index`.',
  'docid-malformed': 'The `_docID` is not one that a Host makes.',
  'snapshot-unproven': 'A snapshot is in no block.',
  'seal-missing':
    'The proof has no seal: no Generator that the Host heard of has signed the block.',
  'identity-unknown': 'None of the seals is of an identity that is accepted.',
  'signature-wrong':
    'The signature of an accepted identity does not fit network, block, root and count of the proof.',
  'signers-missing': 'Fewer of the accepted identities signed than have to.',
  'path-wrong': 'The path does not lead from the CID at its index to the root that was signed.',
  'root-wrong': 'Neither the path nor a signature of an accepted identity leads to the root.',
  'value-malformed': 'A field is not in the form in which a Host answers it.',
  'cid-wrong':
    'The fields do not hash to the signed CID: a value, the `_docID` or the network differs.',
  'seal-differs': 'A field of a seal differs from what was signed.',
  'too-deep': 'This part of the answer is nested deeper than a Host answers.',
} as const

/** Why something is not proven. */
type FailureCode = keyof typeof failureReasons

/** One case of it. */
export interface Failure {
  readonly code: FailureCode
  /** A sentence with the facts of the case; holds nothing unchecked of the answer. */
  readonly message: string
}

/** A failure with a message about its case or, by default, the meaning of its code. */
export function failure(code: FailureCode, message: string = failureReasons[code]): Failure {
  return { code, message }
}

/** Whether a result is a failure. */
export function isFailure(value: object): value is Failure {
  return 'code' in value
}
