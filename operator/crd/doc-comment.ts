/**
 * Reads the comment of a declaration: its text, and the tags that say what TypeScript's types cannot.
 * A tag begins its line with `@` and goes on until the next one, so a rule may be long.
 */

/** A comment taken apart. */
export interface DocComment {
  /** Paragraphs, each on one line, with a blank line between. */
  readonly text: string
  readonly tags: readonly DocTag[]
}

export interface DocTag {
  readonly name: string
  readonly value: string
}

/** Takes a comment (from its opening to its closing star) apart. */
export function parseDocComment(comment: string): DocComment {
  const lines = comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
  const firstTag = lines.findIndex((line) => line.startsWith('@'))
  const textLines = firstTag < 0 ? lines : lines.slice(0, firstTag)
  return {
    text: joinParagraphs(textLines),
    tags: firstTag < 0 ? [] : readTags(lines.slice(firstTag)),
  }
}

function joinParagraphs(lines: readonly string[]): string {
  return lines
    .join('\n')
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll('\n', ' '))
    .join('\n\n')
}

function readTags(lines: readonly string[]): DocTag[] {
  const tags: { name: string; value: string }[] = []
  for (const line of lines) {
    const start = /^@(\w+)\s*(.*)$/.exec(line)
    const last = tags.at(-1)
    if (start !== null) tags.push({ name: start[1] ?? '', value: start[2] ?? '' })
    else if (last !== undefined) last.value = `${last.value} ${line}`.trim()
  }
  return tags
}
