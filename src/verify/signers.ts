/** Who of those that are accepted signed what a proof says. */
import { sha256 } from '@noble/hashes/sha2.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import { ServiceError } from '../errors.ts'
import { arrayItem, bytesItem, intItem, textItem } from './dag-cbor.ts'
import { type Failure, failure } from './failure.ts'
import type { Proof, SealSignature } from './proof.ts'
import { verifySignature } from './signature.ts'
import type { Acceptance } from './verify.ts'

/** An acceptance that was looked through. */
export interface Accepted {
  readonly identities: ReadonlySet<string>
  readonly minimum: number
  /** Verifies a signature once, however many documents it stands below. */
  readonly verify: typeof verifySignature
}

const identityShape = /^(?:0[23])?[0-9a-f]{64}$/

/**
 * Looks an acceptance through.
 * @throws ServiceError `VERIFY_ACCEPTANCE_INVALID` where it has no identity, one that is no public key,
 * or a minimum that its identities cannot reach.
 */
export function parseAcceptance({ identities, minimum = 1 }: Acceptance): Accepted {
  if (identities.length === 0) throw invalid('No identity is accepted.')
  const foreign = identities.find((identity) => !identityShape.test(identity))
  if (foreign !== undefined)
    throw invalid(`${JSON.stringify(String(foreign).slice(0, 80))} is no identity.`)
  const distinct = new Set(identities)
  if (!Number.isInteger(minimum) || minimum < 1 || minimum > distinct.size)
    throw invalid(`Of ${distinct.size} accepted identities ${minimum} cannot have signed.`)
  return { identities: distinct, minimum, verify: verifyOnce() }
}

function invalid(message: string): ServiceError {
  return new ServiceError('VERIFY_ACCEPTANCE_INVALID', message, {
    remedy:
      'Accept the identities that Generators show at /health (.identity): 66 lower-case hex digits, or 64; and at least as many as have to sign.',
  })
}

function verifyOnce(): typeof verifySignature {
  const known = new Map<string, boolean>()
  return (type, identity, digest, signature) => {
    const key = JSON.stringify([type, identity, digest.join(), signature])
    const fits = known.get(key) ?? verifySignature(type, identity, digest, signature)
    known.set(key, fits)
    return fits
  }
}

/** The accepted identities whose signatures fit the proof, or why these are too few. */
export function findSigners(
  proof: Proof,
  { identities, minimum, verify }: Accepted,
): readonly string[] | Failure {
  if (proof.seals.length === 0) return failure('seal-missing')
  const seals = firstOfEach(proof.seals.filter(({ identity }) => identities.has(identity)))
  if (seals.length === 0) return failure('identity-unknown', unknownText(proof.seals))
  const digest = sealDigest(proof)
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

/** A Host answers one seal of an identity for a root; further ones would only take time. */
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
  const told = more > 0 ? [...named, `${more} more`] : named
  return `None of the identities that signed is accepted: ${told.join(', ')}.`
}

function wrongText({ identity }: SealSignature): string {
  return `The signature of ${identity} does not fit network, block, root and count of the proof.`
}

/** What a Generator signs: SHA-256 of `["viewmesh/seal/1", network, number, block hash, root, count]`. */
export function sealDigest({ network, block, root, count }: Proof): Uint8Array {
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
