/** Finds the known name that a misspelt one most likely means. */

/** The number of single-letter edits (swapped neighbours count one) that make `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      current.push(
        Math.min(
          at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1),
          at(last, column) + 1,
          at(current, column - 1) + 1,
          isSwap(a, row, b, column) ? at(beforeLast, column - 2) + 1 : Infinity,
        ),
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

function isSwap(a: string, row: number, b: string, column: number): boolean {
  return a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
}

function at(numbers: readonly number[], index: number): number {
  return numbers[index] ?? 0
}

/** The known name nearest to `name`, null when none is within a third of its letters. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(name.length / 3))
  const ranked = known
    .filter(({ length }) => Math.abs(length - name.length) <= limit)
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return ranked[0]?.candidate ?? null
}

/** The end of a message: `; did you mean x?`, or nothing. */
export function didYouMean(name: string | null): string {
  return name === null ? '' : `; did you mean ${name}?`
}
