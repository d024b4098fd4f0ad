/**
 * What a Host believes of a sealed block that a peer sent: a list of rules in the order in which
 * they are checked, cheap ones first. The first rule that a message breaks ends the matter with
 * IGNORE or REJECT; a message that breaks none is accepted.
 */
import { ServiceError } from '../../errors.ts'
import { verifySignature } from '../../identity/signature.ts'
import { type VerifiedBody, verifyBody } from '../../primitives/body.ts'
import { type Seal, sealDigest } from '../../primitives/seal.ts'
import { decodeSealedBlock, type SealedBlock } from '../../primitives/sealed-block.ts'

/** What the rules need to know about this Host. */
export interface VerifyContext {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Identities that may vote; null lets everybody. */
  readonly trustedSigners: ReadonlySet<string> | null
  /** Bytes that a body may unpack to. */
  readonly maxRawBytes: number
  /** The lowest height that is kept. */
  floor(): number
  /** Whether a block of this height is too far above to be of use now: its documents are not looked at. */
  isFar(height: number): boolean
  /** Whether the block of this hash is stored at this height. */
  isStored(height: number, hash: string): boolean
  /** The seals stored for a height, those of other hashes and roots included. */
  seals(height: number): readonly Seal[]
}

export type RuleAction = 'ignore' | 'reject'

/** A message with everything a rule may look at. */
export interface Candidate {
  readonly message: SealedBlock | null
  readonly seal: Seal
  readonly context: VerifyContext
  /** Seals whose signers may vote and that say something new: of a stored block, only new votes. */
  readonly freshSeals: readonly Seal[]
  readonly isStored: boolean
  /** The checked documents; null where they are not looked at. */
  readonly documents: VerifiedBody | null
  /** Why `documents` could not be read. */
  readonly damage: string | null
}

/** The rules' names: labels of the metric, and in the log. */
export type RuleName =
  | 'well-formed'
  | 'own-network'
  | 'one-statement'
  | 'within-window'
  | 'something-new'
  | 'trusted-signer'
  | 'room-for-seals'
  | 'valid-signature'
  | 'sound-documents'
  | 'sealed-documents'

/** One rule, and how it is checked. */
export interface Rule {
  readonly name: RuleName
  readonly action: RuleAction
  readonly text: string
  /** What is wrong, or null. */
  readonly breach: (candidate: Candidate) => string | null
}

/** Seals that are stored for one height at most. */
const maxSealsPerHeight = 256

/** The rules, in the order in which they are checked. */
export const rules: readonly Rule[] = [
  {
    name: 'well-formed',
    action: 'reject',
    text: 'The message is a sealed block within its limits of size and number of seals.',
    breach: ({ message }) => (message === null ? 'it cannot be read' : null),
  },
  {
    name: 'own-network',
    action: 'reject',
    text: 'Every seal is of the network of this Host.',
    breach: ({ message, context }) =>
      message?.seals.every(({ network }) => network === context.network) ? null : 'another network',
  },
  {
    name: 'one-statement',
    action: 'reject',
    text: 'All seals of a message state the same of one block, each by another signer.',
    breach: ({ message, seal }) => {
      const signers = new Set(message?.seals.map(({ signatureIdentity }) => signatureIdentity))
      if (signers.size !== message?.seals.length) return 'a signer twice'
      return message.seals.every((other) => isSameStatement(other, seal)) ? null : 'they differ'
    },
  },
  {
    name: 'within-window',
    action: 'ignore',
    text: 'The block is not older than the blocks that are kept.',
    breach: ({ seal, context }) => (seal.blockNumber < context.floor() ? 'it is too old' : null),
  },
  {
    name: 'something-new',
    action: 'ignore',
    text: 'The block is not stored yet, or a signer has sealed it that had not before.',
    breach: ({ isStored, message, context }) =>
      isStored && message?.seals.every((seal) => hasSeal(seal, context)) ? 'all is known' : null,
  },
  {
    name: 'trusted-signer',
    action: 'ignore',
    text: 'At least one new seal is by a signer that may vote.',
    breach: ({ freshSeals }) => (freshSeals.length === 0 ? 'no signer may vote' : null),
  },
  {
    name: 'room-for-seals',
    action: 'ignore',
    text: 'There are not more than 256 seals for a height.',
    breach: ({ freshSeals, seal, context }) =>
      context.seals(seal.blockNumber).length + freshSeals.length > maxSealsPerHeight
        ? 'too many'
        : null,
  },
  {
    name: 'valid-signature',
    action: 'reject',
    text: 'Each signature is its signer’s over the statement.',
    breach: ({ freshSeals }) => (freshSeals.every(isSigned) ? null : 'a signature does not fit'),
  },
  {
    name: 'sound-documents',
    action: 'reject',
    text: 'The documents are canonical, in chain order, all of one block, and unpack to no more than the limit.',
    breach: ({ damage }) => damage,
  },
  {
    name: 'sealed-documents',
    action: 'reject',
    text: 'The documents are exactly those that were sealed: number, block hash, root and count agree.',
    breach: ({ documents, seal }) =>
      documents === null || isSealed(documents, seal)
        ? null
        : 'they are others than the sealed ones',
  },
]

/** A rule that a message breaks. */
export interface Breach {
  readonly action: RuleAction
  readonly rule: RuleName
  readonly detail: string
  /** Null when the message cannot be read. */
  readonly height: number | null
}

/** What a message turned out to be. */
export type Finding =
  | ({ readonly kind: 'breach' } & Breach)
  /** A block that is not stored yet; its seals are valid. */
  | {
      readonly kind: 'block'
      readonly seals: readonly Seal[]
      readonly documents: VerifiedBody
      readonly bytes: Uint8Array
    }
  /** New valid seals for a stored block. */
  | ({ readonly kind: 'votes' } & Named)
  /** Valid seals, without the documents, for a block that is not stored. */
  | ({ readonly kind: 'announcement' } & Named)
  /** Valid seals for a block too far above; its documents were not looked at. */
  | ({ readonly kind: 'far' } & Named)

interface Named {
  readonly height: number
  readonly hash: string
  readonly seals: readonly Seal[]
}

/** Checks one message against all rules. Never throws for what is in the message. */
export function verifyMessage(bytes: Uint8Array, context: VerifyContext): Finding {
  const candidate = openCandidate(bytes, context)
  for (const { name, action, breach } of rules) {
    const detail = breach(candidate)
    if (detail === null) continue
    const height = candidate.message === null ? null : candidate.seal.blockNumber
    return { kind: 'breach', action, rule: name, detail, height }
  }
  const { freshSeals: seals, documents, message, isStored } = candidate
  const { blockNumber: height, blockHash: hash } = candidate.seal
  if (isStored) return { kind: 'votes', height, hash, seals }
  if (!message?.body) return { kind: 'announcement', height, hash, seals }
  if (documents === null) return { kind: 'far', height, hash, seals }
  return { kind: 'block', seals, documents, bytes: message.body }
}

/** Everything a rule may look at; costly parts are made when a rule first asks for them. */
function openCandidate(bytes: Uint8Array, context: VerifyContext): Candidate {
  const message = decode(bytes)
  const seal = message?.seals[0] ?? noSeal
  let fresh: readonly Seal[] | null = null
  let checked: { documents: VerifiedBody | null; damage: string | null } | null = null
  const isStored = context.isStored(seal.blockNumber, seal.blockHash)
  const check = (): { documents: VerifiedBody | null; damage: string | null } => {
    const isUnread = isStored || !message?.body || context.isFar(seal.blockNumber)
    checked ??= isUnread ? nothing : checkBody(message.body, context)
    return checked
  }
  return {
    message,
    seal,
    context,
    isStored,
    get freshSeals() {
      fresh ??= (message?.seals ?? [])
        .filter((own) => context.trustedSigners?.has(own.signatureIdentity) ?? true)
        .filter((own) => !isStored || !hasSeal(own, context))
      return fresh
    },
    get documents() {
      return check().documents
    },
    get damage() {
      return check().damage
    },
  }
}

const nothing = { documents: null, damage: null }
const noSeal: Seal = {
  network: '',
  blockNumber: -1,
  blockHash: '',
  merkleRoot: '',
  cidCount: 0,
  signatureType: 'ES256K',
  signatureIdentity: '',
  signatureValue: '',
  createdAt: '',
}

function decode(bytes: Uint8Array): SealedBlock | null {
  try {
    return decodeSealedBlock(bytes)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

function checkBody(
  body: Uint8Array,
  { network, maxRawBytes }: VerifyContext,
): { documents: VerifiedBody | null; damage: string | null } {
  try {
    return { documents: verifyBody(network, body, { maxRawBytes }), damage: null }
  } catch (error) {
    if (error instanceof ServiceError) return { documents: null, damage: error.message }
    throw error
  }
}

function isSameStatement(a: Seal, b: Seal): boolean {
  return (
    a.blockNumber === b.blockNumber &&
    a.blockHash === b.blockHash &&
    a.merkleRoot === b.merkleRoot &&
    a.cidCount === b.cidCount
  )
}

/** A signer's statement counts once, whatever its signature and time look like. */
function hasSeal(seal: Seal, context: VerifyContext): boolean {
  return context
    .seals(seal.blockNumber)
    .some((own) => own.signatureIdentity === seal.signatureIdentity && isSameStatement(own, seal))
}

function isSigned(seal: Seal): boolean {
  const { signatureType, signatureIdentity, signatureValue } = seal
  return verifySignature(signatureType, signatureIdentity, sealDigest(seal), signatureValue)
}

function isSealed(documents: VerifiedBody, seal: Seal): boolean {
  return (
    documents.number === seal.blockNumber &&
    documents.hash === seal.blockHash &&
    documents.root === seal.merkleRoot &&
    documents.count === seal.cidCount
  )
}
