/**
 * What a Host believes of a sealed block that a peer sent: a list of rules in the order in which
 * they are checked, cheap ones first. The first rule that a message breaks ends the matter with
 * IGNORE or REJECT; a message that breaks none is accepted.
 */
import { ServiceError } from '../../errors.ts'
import { isSealSigned } from '../../mesh/signed-claims.ts'
import { type VerifiedBody, verifyBody } from '../../primitives/body/body.ts'
import type { Seal } from '../../primitives/seal.ts'
import { decodeSealedBlock, type SealedBlock } from '../../primitives/sealed-block.ts'

/** What the rules need to know about this Host. */
export interface VerifyContext {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Bytes that a body may unpack to. */
  readonly maxRawBytes: number
  /** Whether the message would be passed on: then it may bear no seal of a stranger. */
  readonly isForwarded: boolean
  /** Whether an identity is an accepted signer. */
  isAccepted(identity: string): boolean
  /** The lowest and the highest height that is of use now. */
  floor(): number
  ceiling(): number
  /** The documents under a block's root; null where they are not here. */
  documents(seal: Seal): KnownDocuments | null
  /** Whether a signer is known to have sealed this root of this block. */
  hasSeal(seal: Seal): boolean
  /** Whether it is known by this very signature. */
  hasSignature(seal: Seal): boolean
}

/** Documents that were checked before. */
export interface KnownDocuments {
  readonly count: number
  /** Their bytes as they came; null where they cannot be had now. */
  body(): Uint8Array | null
}

export type RuleAction = 'ignore' | 'reject'

/** A message with everything a rule may check. */
interface RuleInput {
  readonly message: SealedBlock | null
  readonly seal: Seal
  readonly context: VerifyContext
  /** Seals of accepted signers. */
  readonly acceptedSeals: readonly Seal[]
  /** Those of them that say something new, and do not contradict the documents that are here. */
  readonly freshSeals: readonly Seal[]
  /** The documents of that root that are here; null for none. */
  readonly known: KnownDocuments | null
  /** The checked documents; null where they need no check. */
  readonly documents: VerifiedBody | null
  /** Why `documents` could not be read. */
  readonly damage: string | null
}

/** The rules' names: labels of the metric, and in the log. */
export type BlockRuleName =
  | 'well-formed'
  | 'own-network'
  | 'one-statement'
  | 'accepted-signer'
  | 'within-window'
  | 'something-new'
  | 'valid-signature'
  | 'sound-documents'
  | 'sealed-documents'

/** With those of heads, which keep the same rules as far as they apply, and one of their own. */
export type RuleName = BlockRuleName | 'signer-rate'

/** One rule, and how it is checked. */
interface Rule {
  readonly name: BlockRuleName
  readonly action: RuleAction
  readonly text: string
  /** What is wrong, or null. */
  readonly breach: (candidate: RuleInput) => string | null
}

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
    name: 'accepted-signer',
    action: 'ignore',
    text: 'At least one seal is by an accepted signer; of a message that would be passed on, every one.',
    breach: ({ acceptedSeals, message, context }) => {
      if (acceptedSeals.length === 0) return 'no signer is accepted'
      const isWhole = acceptedSeals.length === message?.seals.length
      return isWhole || !context.isForwarded ? null : 'not every signer is accepted'
    },
  },
  {
    name: 'within-window',
    action: 'ignore',
    text: 'The block is neither older than the blocks that are kept nor far above what signers have reached.',
    breach: ({ seal, context }) => {
      if (seal.blockNumber < context.floor()) return 'it is too old'
      return seal.blockNumber > context.ceiling() ? 'it is too far above' : null
    },
  },
  {
    name: 'something-new',
    action: 'ignore',
    text: 'The documents are not here yet, or an accepted signer has sealed them that had not before.',
    breach: (candidate) =>
      hasNews(candidate) || candidate.freshSeals.length > 0 ? null : 'all is known',
  },
  {
    name: 'valid-signature',
    action: 'reject',
    text: 'Each signature of an accepted signer is its own over the statement.',
    breach: ({ acceptedSeals, context }) =>
      acceptedSeals.every((seal) => context.hasSignature(seal) || isSealSigned(seal))
        ? null
        : 'a signature does not fit',
  },
  {
    name: 'sound-documents',
    action: 'reject',
    text: 'The documents are canonical, in chain order, all of one block, and unpack to no more than the limit. Where they are here and the message would be passed on, their bytes are the same or are checked as well.',
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
  /** Documents that are not here yet, with the valid seals of accepted signers. */
  | {
      readonly kind: 'block'
      readonly seals: readonly Seal[]
      readonly documents: VerifiedBody
      readonly body: Uint8Array
    }
  /** New valid seals of accepted signers. */
  | { readonly kind: 'seals'; readonly height: number; readonly seals: readonly Seal[] }

/**
 * Checks one message against all rules. Never throws for what is in the message: the
 * unforeseen is the fault of the message as well, and named in `detail`.
 */
export function verifyMessage(bytes: Uint8Array, context: VerifyContext): Finding {
  const candidate = openRuleInput(bytes, context)
  for (const { name, action, breach } of rules) {
    const detail = breach(candidate)
    if (detail === null) continue
    const height = candidate.message === null ? null : candidate.seal.blockNumber
    return { kind: 'breach', action, rule: name, detail, height }
  }
  const { acceptedSeals, freshSeals, documents, message, seal } = candidate
  if (documents === null || !message?.body || !hasNews(candidate))
    return { kind: 'seals', height: seal.blockNumber, seals: freshSeals }
  return { kind: 'block', seals: acceptedSeals, documents, body: message.body }
}

/** Everything a rule may check; costly parts are made when a rule first reads them. */
function openRuleInput(bytes: Uint8Array, context: VerifyContext): RuleInput {
  const message = decode(bytes)
  const seal = message?.seals[0] ?? noSeal
  const acceptedSeals = (message?.seals ?? []).filter(({ signatureIdentity }) =>
    context.isAccepted(signatureIdentity),
  )
  let fresh: readonly Seal[] | null = null
  let checked: Checked | null = null
  let known: KnownDocuments | null | undefined
  const knownDocuments = (): KnownDocuments | null => {
    if (known === undefined) known = context.documents(seal)
    return known
  }
  const check = (): Checked => {
    checked ??= message?.body ? checkUnknown(message.body, knownDocuments(), context) : nothing
    return checked
  }
  return {
    message,
    seal,
    context,
    acceptedSeals,
    get known() {
      return knownDocuments()
    },
    get freshSeals() {
      const count = knownDocuments()?.count ?? seal.cidCount
      const isFitting = count === seal.cidCount
      fresh ??= isFitting ? acceptedSeals.filter((own) => !context.hasSeal(own)) : []
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

type Checked = Pick<RuleInput, 'documents' | 'damage'>

const nothing: Checked = { documents: null, damage: null }
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

/** Whether the message brings documents that are not here. */
function hasNews({ message, known }: Pick<RuleInput, 'message' | 'known'>): boolean {
  return Boolean(message?.body) && known === null
}

/**
 * What is here was checked before; what is passed on beside it has to be the same, so that nobody has us pass on what
 * others reject.
 */
function checkUnknown(
  body: Uint8Array,
  known: KnownDocuments | null,
  context: VerifyContext,
): Checked {
  const isChecked = known !== null && (!context.isForwarded || isSame(known.body(), body))
  return isChecked ? nothing : checkBody(body, context)
}

function isSame(own: Uint8Array | null, body: Uint8Array): boolean {
  return own !== null && Buffer.compare(own, body) === 0
}

function checkBody(body: Uint8Array, { network, maxRawBytes }: VerifyContext): Checked {
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

function isSealed(documents: VerifiedBody, seal: Seal): boolean {
  return (
    documents.number === seal.blockNumber &&
    documents.hash === seal.blockHash &&
    documents.root === seal.merkleRoot &&
    documents.count === seal.cidCount
  )
}
