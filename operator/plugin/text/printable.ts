/**
 * Texts of a cluster, as a terminal may show them: whoever writes names, messages and logs there must not move
 * the cursor, change colours or turn the direction of what a person reads.
 */

/** Control and format characters, line separators, and halves of characters. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The text on one line, with each such character as its escape in JSON. */
export function printable(text: string): string {
  return text.replaceAll(unseen, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  )
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
