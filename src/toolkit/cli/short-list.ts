/** Lists in what a stranger wrote. */
import { z } from 'zod'

/** A list of at most `most`, counted before its values are looked at: of each that is wrong the check would keep several notes. */
export function shortList<T>(value: z.ZodType<T>, most: number): z.ZodType<readonly T[]> {
  return z.array(z.unknown()).max(most).pipe(z.array(value))
}
