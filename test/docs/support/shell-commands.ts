/** The simple commands of a shell block, in words: as much of the shell's grammar as the pages use. */

/** What ends a simple command outside of quotes. */
const ends = new Set(['\n', '|', ';', '&', ')', '>', '<'])

/** Every command of a block, each with its words; those within `$( )` come after the one around them. */
export function shellCommands(text: string): string[][] {
  const commands: string[][] = []
  const nested: string[] = []
  let words: string[] = []
  let word: string | null = null
  const endWord = (): void => {
    if (word !== null) words.push(word)
    word = null
  }
  const endCommand = (): void => {
    endWord()
    if (words.length > 0) commands.push(words)
    words = []
  }
  for (let at = 0; at < text.length; ) {
    const { length, kind, value } = nextPiece(text, at)
    at += length
    if (kind === 'end') endCommand()
    else if (kind === 'space') endWord()
    else if (kind === 'comment' && word === null) at += lengthOfLine(text, at)
    else {
      word = (word ?? '') + value
      nested.push(...substitutions(value))
    }
  }
  endCommand()
  return [...commands, ...nested.flatMap(shellCommands)]
}

interface Piece {
  readonly kind: 'end' | 'space' | 'comment' | 'text'
  readonly length: number
  readonly value: string
}

function nextPiece(text: string, at: number): Piece {
  const char = text.charAt(at)
  const piece = (kind: Piece['kind'], length: number, value = ''): Piece => ({
    kind,
    length,
    value,
  })
  if (text.startsWith('\\\n', at)) return piece('space', 2)
  if (char === '\\') return piece('text', 2, text.charAt(at + 1))
  if (char === ' ') return piece('space', 1)
  if (char === '#') return piece('comment', 1, '#')
  // `2>&1`: the number is a stream, and no argument.
  if (/^ \d[<>]/.test(text.slice(at - 1, at + 2))) return piece('end', 2)
  if (text.startsWith('$(', at)) {
    const end = endOfSubstitution(text, at)
    return piece('text', end - at, text.slice(at, end))
  }
  if (char === "'" || char === '"') {
    const end = endOfQuotes(text, at)
    return piece('text', end - at, text.slice(at + 1, end - 1).replaceAll('\\"', '"'))
  }
  // Names in angle brackets stand for what a reader puts there.
  const [placeholder] = /^<[a-zA-Z][\w ]*>/.exec(text.slice(at)) ?? []
  if (placeholder !== undefined) return piece('text', placeholder.length, placeholder)
  return ends.has(char) ? piece('end', 1) : piece('text', 1, char)
}

/** Where the text goes on after the quotes that begin at `at`. */
function endOfQuotes(text: string, at: number): number {
  const quote = text.charAt(at)
  for (let next = at + 1; next < text.length; next += 1) {
    if (quote === '"' && text.charAt(next) === '\\') next += 1
    else if (quote === '"' && text.startsWith('$(', next)) next = endOfSubstitution(text, next) - 1
    else if (text.charAt(next) === quote) return next + 1
  }
  throw new Error(`no end of ${text.slice(at, at + 40)}`)
}

/** Where the text goes on after the `$( )` that begins at `at`. */
function endOfSubstitution(text: string, at: number): number {
  for (let next = at + 2; next < text.length; next += 1) {
    const char = text.charAt(next)
    if (char === "'" || char === '"') next = endOfQuotes(text, next) - 1
    else if (text.startsWith('$(', next)) next = endOfSubstitution(text, next) - 1
    else if (char === ')') return next + 1
  }
  throw new Error(`no end of ${text.slice(at, at + 40)}`)
}

function substitutions(word: string): string[] {
  const at = word.indexOf('$(')
  if (at < 0) return []
  const end = endOfSubstitution(word, at)
  return [word.slice(at + 2, end - 1), ...substitutions(word.slice(end))]
}

function lengthOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return (end < 0 ? text.length : end) - at
}
