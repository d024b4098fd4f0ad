/** How much of something each party may have at a time: streams, messages that wait, bytes in memory. */
import { budgetsOf, type Party, type Shares } from './party.ts'

/** What one party has of it; it grows until it is given back. */
export interface Holding {
  /** Takes more; false, and nothing taken, when the party's budgets have less. */
  add(amount: number): boolean
  /** Gives everything back; harmless when repeated. */
  release(): void
}

export interface Holdings {
  open(party: Party): Holding
  /** Opens a holding with that much in it; null when there is not enough. */
  take(party: Party, amount: number): Holding | null
  /** What all parties have. */
  total(): number
}

/** Remembers only who has something. */
export function createHoldings(shares: Shares): Holdings {
  const held = new Map<string, number>()
  let total = 0

  const change = (key: string, amount: number): void => {
    const next = (held.get(key) ?? 0) + amount
    if (next === 0) held.delete(key)
    else held.set(key, next)
  }

  const open = (party: Party): Holding => {
    const budgets = budgetsOf(party, shares)
    let own = 0
    const addUnchecked = (amount: number): void => {
      for (const { key } of budgets) change(key, amount)
      own += amount
      total += amount
    }
    return {
      add: (amount) => {
        if (budgets.some(({ key, size }) => (held.get(key) ?? 0) + amount > size)) return false
        addUnchecked(amount)
        return true
      },
      release: () => addUnchecked(-own),
    }
  }

  return {
    open,
    take: (party, amount) => {
      const holding = open(party)
      return holding.add(amount) ? holding : null
    },
    total: () => total,
  }
}
