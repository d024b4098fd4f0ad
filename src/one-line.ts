/** Text that somebody else wrote, for a message, a log line or `/health`. */

/**
 * One line of at most `maxCharacters`, and `…` where the text goes on. Nothing in it moves a cursor or changes the
 * direction of a line. It is a copy: a slice would keep the whole text in memory.
 */
export function onOneLine(text: string, maxCharacters: number): string {
  const copy = Array.from(text.slice(0, maxCharacters)).join('').toWellFormed()
  const line = copy.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return text.length > maxCharacters ? `${line}…` : line
}
