/** In-memory budgets: how much of something each remote may have at a time, be it streams, messages or bytes. */
import { type Remote, type Shares, sharesOf } from './remote.ts'

/** What one remote has of it; it grows until it is given back. */
export interface Reservation {
  /** Takes more; false, and nothing taken, when the remote's budgets have less. */
  add(amount: number): boolean
  /** Gives everything back; harmless when repeated. */
  release(): void
}

export interface Budget {
  open(remote: Remote): Reservation
  /** Opens a reservation with that much in it; null when there is not enough. */
  reserve(remote: Remote, amount: number): Reservation | null
  /** What all remotes have. */
  total(): number
}

/** Remembers only who has something. */
export function createBudget(shares: Shares): Budget {
  const held = new Map<string, number>()
  let total = 0

  const change = (key: string, amount: number): void => {
    const next = (held.get(key) ?? 0) + amount
    if (next === 0) held.delete(key)
    else held.set(key, next)
  }

  const open = (remote: Remote): Reservation => {
    const budgets = sharesOf(remote, shares)
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
    reserve: (remote, amount) => {
      const reservation = open(remote)
      return reservation.add(amount) ? reservation : null
    },
    total: () => total,
  }
}
