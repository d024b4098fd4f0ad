/** Revisions of a View: each is a whole state, kept as one file of JSON. */
import { z } from 'zod'
import { ServiceError } from '../../errors.ts'
import { isObject } from '../../json-object.ts'
import { viewLimits } from '../../views/view.ts'
import { shortList } from '../cli/short-list.ts'
import { isLensLabel } from './names.ts'
import type { LensArguments, ViewContent } from './view-content.ts'

/** One version of a View. */
export interface Revision extends ViewContent {
  /** 1 for the first. */
  readonly revision: number
  /** When it was made, ISO 8601. */
  readonly at: string
  /** What made it, as in `add lens decode`. */
  readonly cause: string
  /** The revision that it brought back, null for one with content of its own. */
  readonly restores: number | null
}

const schema = z.strictObject({
  format: z.literal(1),
  revision: z.int().min(1),
  at: z.iso.datetime(),
  // It is printed as one line.
  cause: z.string().regex(/^\P{C}*$/u),
  restores: z.int().min(1).nullable(),
  query: z.string().nullable(),
  sdl: z.string().nullable(),
  lenses: shortList(
    z.strictObject({
      // It becomes a part of a path.
      label: z.string().refine(isLensLabel),
      // As it is: a record would lose the argument __proto__, and with it the content of the revision.
      args: z.custom<LensArguments>(isArguments).nullable(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      bytes: z.int().min(0),
    }),
    viewLimits.lenses,
  ),
})

function isArguments(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string')
}

/** The text of a revision's file. */
export function revisionText(revision: Revision): string {
  return `${JSON.stringify({ format: 1, ...revision }, null, 2)}\n`
}

/** @throws ServiceError `TOOLKIT_HISTORY_DAMAGED` */
export function parseRevision(text: string, path: string): Revision {
  try {
    const { format: _, ...revision } = schema.parse(JSON.parse(text))
    return revision
  } catch (cause) {
    throw damaged(path, cause)
  }
}

/** What is kept cannot be used; working files are not touched by that. */
export function damaged(path: string, cause?: unknown): ServiceError {
  return new ServiceError('TOOLKIT_HISTORY_DAMAGED', `${path} is damaged or missing`, {
    remedy:
      'Restore it from a copy, or remove the history of this View beside it: its files stay, as revision 1.',
    cause,
  })
}
