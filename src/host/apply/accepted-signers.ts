/** Whose word counts in the writer, and on which chain they are. */
import { type CountingTime, countedSigners, type Signer } from '../fork-choice/counting.ts'
import type { SignerHeads } from './signer-heads.ts'

/** Whose word counts: these, or everybody who signs. */
export type Accepted =
  | { readonly kind: 'listed'; readonly identities: readonly string[] }
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
  /** The genesis that more than half of the counted signers name; null where there is none. */
  commonGenesis(time: CountingTime): string | null
}

export interface AcceptedSignersParts {
  readonly heads: SignerHeads
  /** Hash of block 0 of the store's chain; null while it is not known. */
  readonly genesisHash: () => string | null
}

/** Keys cost nothing: without an end they would fill memory and disk. */
const strangersAtHeight = 256

/** Nobody is accepted yet. */
export function createAcceptedSigners(parts: AcceptedSignersParts): AcceptedSigners {
  const { heads, genesisHash } = parts
  let accepted: Accepted = { kind: 'listed', identities: [] }
  let listed = new Set<string>()

  const identities = (): readonly string[] =>
    accepted.kind === 'listed' ? accepted.identities : heads.identities()

  const signer = (identity: string, isOurs: (genesis: string) => boolean): Signer => {
    const heard = heads.of(identity)
    if (heard === undefined) return { identity, head: null, heardMs: null }
    const { head, heardMs } = heard
    if (!isOurs(head.genesisHash)) return { identity, head: null, heardMs }
    const { number, hash, nodeHeight } = head
    return { identity, head: { number, hash, nodeHeight }, heardMs }
  }

  return {
    set: (next) => {
      accepted = next
      listed = new Set(next.kind === 'listed' ? next.identities : [])
    },
    mostAtHeight: () => (accepted.kind === 'anyone' ? strangersAtHeight : Number.POSITIVE_INFINITY),
    isAccepted: (identity) => accepted.kind === 'anyone' || listed.has(identity),
    identities,
    list: () => identities().map((identity) => signer(identity, (own) => own === genesisHash())),
    foreign: () =>
      identities().flatMap((identity) => {
        const head = heads.of(identity)?.head
        const isForeign =
          head !== undefined && genesisHash() !== null && head.genesisHash !== genesisHash()
        return isForeign ? [{ identity, genesisHash: head.genesisHash }] : []
      }),
    commonGenesis: (time) => {
      const counted = countedSigners(
        identities().map((identity) => signer(identity, () => true)),
        time,
      )
      const named = counted.flatMap(({ identity }) => heads.of(identity)?.head.genesisHash ?? [])
      const votes = (hash: string): number => named.filter((other) => other === hash).length
      return named.find((hash) => 2 * votes(hash) > counted.length) ?? null
    },
  }
}
