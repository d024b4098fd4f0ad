/**
 * The newest head of every accepted signer. A head with a lower sequence than the one that is known is an
 * old one sent again; what is known outlives the program, so that none is taken for new after a restart.
 */
import { ServiceError } from '../../errors.ts'
import { isHeadSigned } from '../../mesh/signed-claims.ts'
import { decodeHead, encodeHead, type Head, headDigest } from '../../primitives/head.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { createHeadRate, type HeadRate } from './head-rate.ts'
import type { Breach } from './verify.ts'

/** What became of a head. */
export type HeadOutcome =
  /** It is the newest of its signer now. */
  | { readonly kind: 'newer'; readonly identity: string; readonly height: number }
  | ({ readonly kind: 'breach' } & Breach)

/** A head, and when it came. */
interface HeardHead {
  readonly head: Head
  /** Monotonic time in milliseconds; null for one that was known when the program started. */
  readonly heardMs: number | null
  /** The same in milliseconds since 1970, for people. */
  readonly heardAt: number | null
}

export interface SignerHeads {
  receive(bytes: Uint8Array): HeadOutcome
  of(identity: string): HeardHead | undefined
  /** Of those whose heads are known, who signed two with one sequence since the start: their keys run twice. */
  twice(): readonly string[]
  /** Everybody whose head is known, who was heard last comes last. */
  identities(): readonly string[]
  /** Forgets the heads of others than these. */
  keepOnly(isKept: (identity: string) => boolean): void
  /** Writes the heads that changed. */
  flush(): Promise<void>
}

interface SignerHeadsParts {
  readonly store: Pick<StoreWriter, 'putRecord' | 'reader'>
  readonly network: string
  readonly isAccepted: (identity: string) => boolean
  readonly nowMs: () => number
}

const recordPrefix = 'head/'
/** Signers whose heads are remembered; who was heard longest ago is forgotten first. */
const maxHeads = 256

/** Continues with the heads that the store knows. */
export function createSignerHeads(parts: SignerHeadsParts): SignerHeads {
  const heads = readHeads(parts.store)
  const changed = new Set<string>()
  const twice = new Set<string>()
  const rate = createHeadRate(parts.nowMs)

  const forget = (identity: string): void => {
    heads.delete(identity)
    rate.forget(identity)
    twice.delete(identity)
    changed.add(identity)
  }

  const remember = (identity: string, head: Head): void => {
    heads.delete(identity)
    heads.set(identity, { head, heardMs: parts.nowMs(), heardAt: Date.now() })
    changed.add(identity)
    for (const oldest of heads.keys()) {
      if (heads.size <= maxHeads) return
      forget(oldest)
    }
  }

  return {
    receive: (bytes) => {
      const head = decode(bytes)
      if (head === null) {
        const detail = 'it cannot be read'
        return { kind: 'breach', action: 'reject', rule: 'well-formed', detail, height: null }
      }
      const found = breachOf(head, {
        ...parts,
        known: heads.get(head.signatureIdentity)?.head,
        rate,
      })
      if (found !== null) return { kind: 'breach', ...found }
      const identity = head.signatureIdentity
      if (heads.get(identity)?.head.sequence === head.sequence) {
        twice.add(identity)
        const detail = 'its signer signed another one with this sequence'
        const { number: height } = head
        return { kind: 'breach', action: 'ignore', rule: 'something-new', detail, height }
      }
      remember(identity, head)
      return { kind: 'newer', identity, height: head.number }
    },
    of: (identity) => heads.get(identity),
    twice: () => [...twice],
    identities: () => [...heads.keys()],
    keepOnly: (isKept) => {
      for (const identity of heads.keys()) if (!isKept(identity)) forget(identity)
    },
    flush: async () => {
      const writes = [...changed].map((identity) => {
        const head = heads.get(identity)?.head
        return parts.store.putRecord(
          recordPrefix + identity,
          head === undefined ? null : encodeHead(head),
        )
      })
      changed.clear()
      await Promise.all(writes)
    },
  }
}

interface RuleFacts extends Pick<SignerHeadsParts, 'network' | 'isAccepted'> {
  /** The newest head of the same signer. */
  readonly known: Head | undefined
  readonly rate: Pick<HeadRate, 'take'>
}

/** The first rule that a head breaks; null for none. */
function breachOf(head: Head, { network, isAccepted, known, rate }: RuleFacts): Breach | null {
  const breach = (action: Breach['action'], rule: Breach['rule'], detail: string): Breach => ({
    action,
    rule,
    detail,
    height: head.number,
  })
  if (head.network !== network) return breach('reject', 'own-network', 'another network')
  if (!isAccepted(head.signatureIdentity))
    return breach('ignore', 'accepted-signer', 'its signer is not accepted')
  if (known !== undefined && isSameStatement(known, head))
    return breach('ignore', 'something-new', 'it is known')
  if (known !== undefined && head.sequence < known.sequence)
    return breach('ignore', 'something-new', 'a newer one is known')
  if (!isHeadSigned(head)) return breach('reject', 'valid-signature', 'the signature does not fit')
  if (!rate.take(head.signatureIdentity))
    return breach('ignore', 'signer-rate', 'its signer signs more than a Generator does')
  return null
}

/** The messages of the heads that are kept, of these signers or of all. */
export function storedHeads(reader: StoreReader, identities: readonly string[]): Uint8Array[] {
  return reader.read((snapshot) => {
    const names =
      identities.length === 0
        ? snapshot.recordNames(recordPrefix)
        : identities.map((identity) => recordPrefix + identity)
    return names.flatMap((name) => snapshot.record(name) ?? [])
  })
}

function readHeads(store: Pick<StoreWriter, 'reader'>): Map<string, HeardHead> {
  return store.reader.read((snapshot) => {
    const names = snapshot.recordNames(recordPrefix)
    const found = names.flatMap((name): [string, HeardHead][] => {
      const head = decode(snapshot.record(name) ?? new Uint8Array())
      return head === null ? [] : [[head.signatureIdentity, { head, heardMs: null, heardAt: null }]]
    })
    return new Map(found)
  })
}

function decode(bytes: Uint8Array): Head | null {
  try {
    return decodeHead(bytes)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

/** Signatures may differ over the same statement; the statement counts. */
function isSameStatement(one: Head, other: Head): boolean {
  return Buffer.compare(headDigest(one), headDigest(other)) === 0
}
