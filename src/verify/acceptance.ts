/** Whose signatures a caller accepts, and how many of them a block needs. */
import { ServiceError } from '../errors.ts'
import { verifySealSignature } from './signature.ts'

/** Whose signatures count, and how many of them it takes. */
export interface Acceptance {
  /** Public keys of Generators, each once, in lower-case hex without 0x, as `.identity` of their `/health` has them. */
  readonly identities: readonly string[]
  /** How many of these have to have signed. Default 1. */
  readonly minimum?: number
}

/** An acceptance that was checked. */
export interface ParsedAcceptance {
  readonly identities: ReadonlySet<string>
  readonly minimum: number
  /** Verifies a signature once, however many documents it stands below. */
  readonly verify: typeof verifySealSignature
}

/** A public key: 33 bytes for ES256K, 32 for Ed25519. */
export const identityShape: RegExp = /^(?:0[23])?[0-9a-f]{64}$/

/**
 * Checks an acceptance.
 * @throws ServiceError `VERIFY_ACCEPTANCE_INVALID` where it has no identity, one that is no public key, one
 * twice, or a minimum that its identities cannot reach.
 */
export function parseAcceptance({ identities, minimum = 1 }: Acceptance): ParsedAcceptance {
  if (identities.length === 0) throw invalid('No identity is accepted.')
  const foreign = identities.find((identity) => !identityShape.test(identity))
  if (foreign !== undefined)
    throw invalid(`${JSON.stringify(String(foreign).slice(0, 80))} is no identity.`)
  const distinct = new Set(identities)
  if (distinct.size < identities.length) throw givenTwice(identities)
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

/** It counts once, so who meant two Generators would require less than they think. */
function givenTwice(identities: readonly string[]): ServiceError {
  const twice = identities.find((identity, place) => identities.indexOf(identity) !== place)
  return new ServiceError('VERIFY_ACCEPTANCE_INVALID', `The identity ${twice} is given twice.`, {
    remedy: 'Leave one of the two out, or replace it by that of another Generator.',
  })
}

function verifyOnce(): typeof verifySealSignature {
  const known = new Map<string, boolean>()
  return (type, identity, digest, signature) => {
    const key = JSON.stringify([type, identity, digest.join(), signature])
    const isValid = known.get(key) ?? verifySealSignature(type, identity, digest, signature)
    known.set(key, isValid)
    return isValid
  }
}
