/**
 * Why a program ended, from the end of its log, which Kubernetes keeps as the message of a container
 * that failed (`terminationMessagePolicy`): at most 2,048 bytes, so lines may begin in their middle.
 */
import { fieldsOf, parseFields } from '../../resources/names/unchecked-json.ts'
import { withoutStop } from '../statements/sentences.ts'

/** What a program reported before it ended; secrets are taken out of its log before it is written. */
export interface TerminationMessage {
  /** Code of `src/errors.ts`; null where something else ended it. */
  readonly code: string | null
  /** Without a full stop at its end. */
  readonly message: string
  /** What to do; null where the program does not say. */
  readonly remedy: string | null
  /** What the program has and what it should have, where its failure has both; else null. */
  readonly difference: { readonly found: string; readonly expected: string } | null
}

const maxMessage = 400
const maxRemedy = 300
const maxFact = 128

/**
 * What the last line about a failure says; the last line where that is not of the program's log, as
 * with a crash of the runtime; null where there is neither.
 */
export function parseTerminationMessage(log: string | undefined): TerminationMessage | null {
  const lines = (log ?? '').split('\n').filter((line) => line.trim() !== '')
  const reported = lines.map(parseFailure).findLast((words) => words !== null)
  if (reported !== undefined) return reported
  const last = lines.at(-1)?.trim() ?? ''
  return last === '' || last.startsWith('{')
    ? null
    : { code: null, message: last.slice(-maxMessage), remedy: null, difference: null }
}

/** As one text: what happened, its code, what to do. */
export function terminationText({ code, message, remedy }: TerminationMessage): string {
  return `${message}${code === null ? '' : ` (${code})`}${remedy === null ? '' : `. ${remedy}`}`
}

/** A container can write what it likes, so nothing is trusted to have its shape. */
function parseFailure(line: string): TerminationMessage | null {
  const { level, err } = parseFields(line)
  const { code, message, remedy, facts } = fieldsOf(err)
  if (level !== 'fatal' || typeof message !== 'string') return null
  return {
    code: typeof code === 'string' && /^[A-Z_]{1,64}$/.test(code) ? code : null,
    message: withoutStop(message).slice(0, maxMessage),
    remedy: typeof remedy === 'string' ? remedy.slice(0, maxRemedy) : null,
    difference: differenceOf(fieldsOf(facts)),
  }
}

function differenceOf({
  found,
  expected,
}: Readonly<Record<string, unknown>>): TerminationMessage['difference'] {
  if (typeof found !== 'string' || typeof expected !== 'string') return null
  return { found: found.slice(0, maxFact), expected: expected.slice(0, maxFact) }
}
