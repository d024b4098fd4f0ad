/** Text in an answer of a Host that people are shown. */
import { z } from 'zod'
import { toSingleLine } from '../cli/print.ts'

const maxCharacters = 2_000

/** One line of at most 2,000 characters; what is longer is cut. */
export const hostText: z.ZodType<string> = z
  .string()
  .transform((value) => toSingleLine(value.slice(0, maxCharacters)))
