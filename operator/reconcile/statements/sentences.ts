/** Sentences of messages that quote other messages. */
import type { ServiceError } from '../../../src/errors.ts'

/** Without the full stop at its end, so that more can follow. */
export function withoutStop(text: string): string {
  return text.replace(/\.$/, '')
}

/** Things in a message, such as names: the first four, and how many more there are. */
export function listed(names: readonly string[], separator: ', ' | '; ' = ', '): string {
  const shown = names.slice(0, 4).join(separator)
  return names.length > 4 ? `${shown} and ${names.length - 4} more` : shown
}

/** A failure with what to do about it, where that is known. */
export function remedied({ message, remedy }: Pick<ServiceError, 'message' | 'remedy'>): string {
  return remedy === undefined ? message : `${withoutStop(message)}. ${remedy}`
}
