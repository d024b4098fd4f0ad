/** Changes that are made one after the other, whoever asks for them. */

/** Begins a change when all before it have ended, well or not; returns what it returns. */
export type InTurn = <T>(change: () => Promise<T>) => Promise<T>

export function createInTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (change) => {
    const done = last.then(change)
    last = done.catch(() => undefined)
    return done
  }
}
