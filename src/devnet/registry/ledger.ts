/**
 * What the stand-in of the registry chain knows: its Views, pending and registered, and the transactions that made
 * them so, which are the one record of both. Replaying the transactions gives the same Views again.
 */
import { invariant } from '../../errors.ts'

/** A View as the chain has it. */
export interface ChainView {
  /** With the checksum of EIP-55, as is `creator`. */
  readonly address: string
  readonly creator: string
  readonly name: string
  /** Of the block in which it was registered, not of the one in which that was acknowledged. */
  readonly height: number
  readonly wire: Uint8Array
}

/** What happened to a View; failures say why. */
export type ViewStep =
  | { readonly kind: 'pending' | 'registered'; readonly view: ChainView }
  | { readonly kind: 'failed' | 'timed_out'; readonly view: ChainView; readonly error: string }

/** A transaction with at least one step of a View. */
export interface LedgerTransaction {
  readonly height: number
  /** A text that no other transaction has. */
  readonly id: string
  readonly steps: readonly ViewStep[]
}

/** The state of the chain. */
export interface Ledger {
  /** Takes a transaction and notifies every listener of it. */
  add(transaction: LedgerTransaction): void
  /** Registered Views in the order of the chain, which is that of their addresses as text. */
  registered(): readonly ChainView[]
  pending(): readonly ChainView[]
  transactions(): readonly LedgerTransaction[]
  /** Returns what ends the subscription. */
  onTransaction(listener: (transaction: LedgerTransaction) => void): () => void
}

/** An empty ledger. */
export function createLedger(): Ledger {
  const pending = new Map<string, ChainView>()
  const registered = new Map<string, ChainView>()
  const transactions: LedgerTransaction[] = []
  const listeners = new Set<(transaction: LedgerTransaction) => void>()
  let sorted: readonly ChainView[] | null = null
  const apply = ({ kind, view }: ViewStep): void => {
    pending.delete(view.address)
    if (kind === 'pending') pending.set(view.address, view)
    if (kind === 'registered') registered.set(view.address, view)
  }
  return {
    add(transaction) {
      invariant(transaction.steps.length > 0, 'a transaction of the ledger has steps')
      transactions.push(transaction)
      transaction.steps.forEach(apply)
      sorted = null
      for (const listener of listeners) listener(transaction)
    },
    registered() {
      sorted ??= [...registered.values()].toSorted((a, b) => (a.address < b.address ? -1 : 1))
      return sorted
    },
    pending: () => [...pending.values()],
    transactions: () => transactions,
    onTransaction(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
