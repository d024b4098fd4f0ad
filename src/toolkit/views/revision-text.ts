/** The versions of a View, each with what it changed. */
import type { Revision } from '../project/revision.ts'
import { emptyContent, type KeptLens, type ViewContent } from '../project/view-content.ts'
import { lineDifference } from './line-difference.ts'

/** A version with what it changed of the one before. */
interface DescribedRevision {
  readonly revision: number
  readonly at: string
  readonly cause: string
  readonly restores: number | null
  /** Lines that begin with "- " or "+ ", below the part that they are of. */
  readonly difference: readonly string[]
}

/** Oldest first. */
export function describeRevisions(revisions: readonly Revision[]): DescribedRevision[] {
  return revisions.map((revision, index) => {
    const { at, cause, restores } = revision
    const before = revisions[index - 1] ?? emptyContent
    return {
      ...{ revision: revision.revision, at, cause, restores },
      difference: differenceOf(before, revision),
    }
  })
}

/** For people, the newest first. */
export function revisionsText(revisions: readonly Revision[]): string {
  const texts = describeRevisions(revisions).map(({ revision, at, cause, difference }) =>
    [`Version ${revision}, ${at}: ${cause}`, ...difference.map((line) => `  ${line}`)].join('\n'),
  )
  return texts.toReversed().join('\n\n')
}

function differenceOf(before: ViewContent, after: ViewContent): string[] {
  const parts = {
    query: lineDifference(before.query ?? '', after.query ?? ''),
    SDL: lineDifference(before.sdl ?? '', after.sdl ?? ''),
    lenses: lineDifference(lensLines(before.lenses), lensLines(after.lenses)),
  }
  return Object.entries(parts).flatMap(([part, lines]) =>
    lines.length === 0 ? [] : [`${part}:`, ...lines.map((line) => `  ${line}`)],
  )
}

function lensLines(lenses: readonly KeptLens[]): string {
  return lenses
    .flatMap(({ label, sha256, bytes, args }) => [
      `${label} (${bytes} bytes, sha256 ${sha256})`,
      ...Object.entries(args ?? {}).map(([key, value]) => `${label}.${key}: ${value}`),
    ])
    .join('\n')
}
