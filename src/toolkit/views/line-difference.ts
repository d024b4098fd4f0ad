/** What changed between two texts, line by line. */

/** Pairs of lines that are compared at most; longer texts are shown as replaced. */
const maxPairs = 4_000_000

/** Lines with "- " and "+ " before what went and what came; lines that stay are left out. */
export function lineDifference(before: string, after: string): string[] {
  const old = before === '' ? [] : before.split('\n')
  const now = after === '' ? [] : after.split('\n')
  if (old.length * now.length > maxPairs) return [...removed(old), ...added(now)]
  const common = commonLengths(old, now)
  const lines: string[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < now.length) {
    if (old[i] === now[j]) {
      i += 1
      j += 1
    } else if (i < old.length && at(common, i + 1, j) >= at(common, i, j + 1)) {
      lines.push(...removed(old.slice(i, i + 1)))
      i += 1
    } else {
      lines.push(...added(now.slice(j, j + 1)))
      j += 1
    }
  }
  return lines
}

/** Length of the longest common subsequence of what follows each pair of places. */
function commonLengths(old: readonly string[], now: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => Array(now.length + 1).fill(0))
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const row = lengths[i] ?? []
      row[j] =
        old[i] === now[j]
          ? at(lengths, i + 1, j + 1) + 1
          : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1))
    }
  return lengths
}

function at(lengths: readonly (readonly number[])[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0
}

function removed(lines: readonly string[]): string[] {
  return lines.map((line) => `- ${line}`)
}

function added(lines: readonly string[]): string[] {
  return lines.map((line) => `+ ${line}`)
}
