/** The accepted signers as the writer knows them, and the chain that they are on. */
import { type CountingTime, followedSigners, type Signer } from '../fork-choice/counting.ts'
import type { SignerHeads } from './signer-heads.ts'

/** The accepted signers: these, or every one that signs. */
export type Accepted =
  | {
      readonly kind: 'listed'
      readonly identities: readonly string[]
      /** How many configured peers have not shown yet whether they are Generators, which would be accepted. */
      readonly awaited: number
    }
  | { readonly kind: 'anyone' }

export interface AcceptedSigners {
  set(accepted: Accepted): void
  /** Of how many signers seals are kept at one height: of all that are named, where anyone is accepted of 256. */
  mostAtHeight(): number
  isAccepted(identity: string): boolean
  identities(): readonly string[]
  /** All of them; those whose chain is not the store's, or not known to be, without their heads. */
  list(): Signer[]
  /** Those that are on another chain than the store, with the hash of its block 0. */
  foreign(): readonly { readonly identity: string; readonly genesisHash: string }[]
  /**
   * Hash of block 0 of the chain that is followed: the store's, and until that is known what more than half of the
   * counted signers name, or where nobody counts those of which a head is known. Null where they name none.
   */
  genesis(): string | null
  /**
   * The chain that a store may adopt for good: named by the heads of more than half of all that are accepted
   * or may be soon. Otherwise the first to connect would decide for ever.
   */
  majorityGenesis(): string | null
  /** Whether more than half of all that are accepted or may be soon are among these. */
  areMost(identities: readonly string[]): boolean
}

interface AcceptedSignersParts {
  readonly heads: SignerHeads
  /** Hash of block 0 of the store's chain; null while it is not known. */
  readonly genesisHash: () => string | null
  readonly time: () => CountingTime
}

/** Keys cost nothing: without an end they would fill memory and disk. */
const strangersAtHeight = 256

/** Nobody is accepted yet. */
export function createAcceptedSigners(parts: AcceptedSignersParts): AcceptedSigners {
  const { heads } = parts
  let accepted: Accepted = { kind: 'listed', identities: [], awaited: 0 }
  let listed = new Set<string>()

  const identities = (): readonly string[] =>
    accepted.kind === 'listed' ? accepted.identities : heads.identities()
  const genesisOf = (identity: string): string | undefined => heads.of(identity)?.head.genesisHash
  const isMost = (count: number): boolean => {
    const awaited = accepted.kind === 'listed' ? accepted.awaited : 0
    return 2 * count > identities().length + awaited
  }

  const signer = (identity: string, isOurs: (genesis: string) => boolean): Signer => {
    const heard = heads.of(identity)
    if (heard === undefined) return { identity, head: null, heardMs: null }
    const { head, heardMs } = heard
    if (!isOurs(head.genesisHash)) return { identity, head: null, heardMs }
    const { number, hash, nodeHeight } = head
    return { identity, head: { number, hash, nodeHeight }, heardMs }
  }

  const followedGenesis = (): string | null => {
    const all = identities().map((identity) => signer(identity, () => true))
    const followed = followedSigners(all, parts.time())
    const named = followed.flatMap(({ identity }) => genesisOf(identity) ?? [])
    return mostNamed(named, (count) => 2 * count > followed.length)
  }
  const genesis = (): string | null => parts.genesisHash() ?? followedGenesis()

  return {
    set: (next) => {
      accepted = next
      listed = new Set(next.kind === 'listed' ? next.identities : [])
    },
    mostAtHeight: () => (accepted.kind === 'anyone' ? strangersAtHeight : Number.POSITIVE_INFINITY),
    isAccepted: (identity) => accepted.kind === 'anyone' || listed.has(identity),
    identities,
    list: () => {
      const ours = genesis()
      return identities().map((identity) => signer(identity, (own) => own === ours))
    },
    foreign: () => {
      const ours = genesis()
      return identities().flatMap((identity) => {
        const genesisHash = genesisOf(identity)
        const isForeign = ours !== null && genesisHash !== undefined && genesisHash !== ours
        return isForeign ? [{ identity, genesisHash }] : []
      })
    },
    genesis,
    majorityGenesis: () =>
      mostNamed(
        identities().flatMap((identity) => genesisOf(identity) ?? []),
        isMost,
      ),
    areMost: (others) => isMost(identities().filter((each) => others.includes(each)).length),
  }
}

/** The hash that enough name; null where none is. */
function mostNamed(named: readonly string[], isEnough: (count: number) => boolean): string | null {
  const votes = (hash: string): number => named.filter((other) => other === hash).length
  return named.find((hash) => isEnough(votes(hash))) ?? null
}
