/** What a Host says of a View that it accepted: allowed, and probably not wanted. */
import { z } from 'zod'
import { remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { hostText } from './host-text.ts'

/** In the words of the Host. */
export interface HostWarning {
  readonly code: string
  readonly message: string
  readonly remedy: string
}

/** Hosts know a handful; a stranger's may send more, of which the first are shown. */
const maxWarnings = 20
const warning: z.ZodType<HostWarning> = z.object({
  code: hostText,
  message: hostText,
  remedy: hostText,
})

/** Those of an answer; a Host of an earlier version sends none. */
export const hostWarnings: z.ZodType<readonly HostWarning[]> = z
  .array(z.unknown())
  .default([])
  .transform((all) => all.slice(0, maxWarnings))
  .pipe(z.array(warning))

/** Two lines on standard error for each. */
export function remarkWarnings(terminal: Terminal, warnings: readonly HostWarning[]): void {
  for (const { message, remedy } of warnings)
    remark(terminal, `warning: ${message}\nWhat to do: ${remedy}`)
}
