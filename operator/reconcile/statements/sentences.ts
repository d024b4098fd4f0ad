/** Sentences of messages that quote other messages. */

/** Without the full stop at its end, so that more can follow. */
export function withoutStop(text: string): string {
  return text.replace(/\.$/, '')
}

/** Things in a message, such as names: the first four, and how many more there are. */
export function listed(names: readonly string[], separator: ', ' | '; ' = ', '): string {
  const shown = names.slice(0, 4).join(separator)
  return names.length > 4 ? `${shown} and ${names.length - 4} more` : shown
}
