/**
 * How many values a JSON text has and how deep they are nested, found without parsing it: many small ones take time and
 * memory that its length does not show, more than a second and 600 MB for 16 MiB of them.
 */

const quote = 0x22
const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const closeBrace = 0x7d
const closeBracket = 0x5d
const backslash = 0x5c
/** Of one value and what is around it: its digits, its indentation. */
const charactersOutsideStrings = 16

/**
 * Whether a text has more than `most` commas and opening brackets outside of strings. What takes as long to look through is
 * answered alike: more than 16 times as many characters there, or escaped quotes.
 */
export function hasMoreParts(text: string, most: number): boolean {
  let parts = 0
  let steps = 0
  let isString = false
  for (let at = 0; at < text.length; at++) {
    if (isString) {
      at = text.indexOf('"', at)
      if (at < 0) return false
      isString = isEscaped(text, at)
    } else {
      const code = text.charCodeAt(at)
      if (code === quote) isString = true
      else if (isCounted(code)) parts++
    }
    if (parts > most || ++steps > charactersOutsideStrings * most) return true
  }
  return false
}

/** The value of a text. @throws RangeError where it `hasMoreParts`, SyntaxError where it is not JSON */
export function parseBoundedJson(text: string, most: number): unknown {
  if (hasMoreParts(text, most)) throw new RangeError(`it has more than ${most} values`)
  return JSON.parse(text)
}

/** Whether more than `most` brackets are open at once, outside of strings. */
export function isNestedDeeper(text: string, most: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === openBrace || code === openBracket) depth++
    else if (code === closeBrace || code === closeBracket) depth--
    if (depth > most) return true
  }
  return false
}

/** Where the string that begins here ends. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at < 0 ? text.length : at
}

function isCounted(code: number): boolean {
  return code === comma || code === openBrace || code === openBracket
}

/** True for a quote behind an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text.charCodeAt(before - 1) === backslash) before--
  return (at - before) % 2 === 1
}
