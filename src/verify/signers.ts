/** Which of the accepted identities signed a proof. */
import { sha256 } from '@noble/hashes/sha2.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import { identityShape, type ParsedAcceptance } from './acceptance.ts'
import { arrayItem, bytesItem, intItem, textItem } from './dag-cbor.ts'
import { type Failure, failure } from './failure.ts'
import type { Proof, SealSignature } from './proof.ts'

/** The accepted identities whose signatures fit the proof, or why these are too few. */
export function findSigners(
  proof: Proof,
  { identities, minimum, verify }: ParsedAcceptance,
): readonly string[] | Failure {
  if (proof.seals.length === 0) return failure('seal-missing')
  const seals = firstOfEach(proof.seals.filter(({ identity }) => identities.has(identity)))
  if (seals.length === 0) return failure('identity-unknown', unknownText(proof.seals))
  const digest = proofDigest(proof)
  const fitting = seals.filter(({ type, identity, value }) => verify(type, identity, digest, value))
  const signers = fitting.map(({ identity }) => identity)
  if (signers.length >= minimum) return signers
  const wrong = seals.find((seal) => !fitting.includes(seal))
  if (wrong !== undefined) return failure('signature-wrong', wrongText(wrong))
  return failure(
    'signers-missing',
    `Of the accepted identities ${minimum} have to sign, and ${signers.length} did.`,
  )
}

/** A Host returns one seal of an identity for a root; further ones would only take time. */
function firstOfEach(seals: readonly SealSignature[]): readonly SealSignature[] {
  return seals.filter(
    (seal, place) => seals.findIndex(({ identity }) => identity === seal.identity) === place,
  )
}

const maxNamed = 3

function unknownText(seals: readonly SealSignature[]): string {
  const found = new Set(seals.map(({ identity }) => identity))
  const named = [...found].filter((identity) => identityShape.test(identity)).slice(0, maxNamed)
  const more = found.size - named.length
  const listed = more > 0 ? [...named, `${more} more`] : named
  return `None of the identities that signed is accepted: ${listed.join(', ')}.`
}

function wrongText({ identity }: SealSignature): string {
  return `The signature of ${identity} does not fit network, block, root and count of the proof.`
}

/** What a Generator signs: SHA-256 of `["viewmesh/seal/1", network, number, block hash, root, count]`. */
export function proofDigest({ network, block, root, count }: Proof): Uint8Array {
  const statement = arrayItem([
    textItem('viewmesh/seal/1'),
    textItem(network),
    intItem(block.number),
    bytesItem(hexToBytes(block.hash.slice(2))),
    bytesItem(hexToBytes(root)),
    intItem(count),
  ])
  return sha256(statement)
}
