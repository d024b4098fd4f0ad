/** One thing after another, in the order in which they were asked for. */

/** Begins `work` when everything that was asked for before is over, whatever came of it. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work, work)
    last = turn
    return turn
  }
}
