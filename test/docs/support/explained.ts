/** What docs/troubleshooting.md says of a message, for tests that bring a program to say it. */
import assert from 'node:assert/strict'
import { readPage } from './page.ts'

export const troubleshooting = 'docs/troubleshooting.md'

/** A section of the page: a message as its heading, and the text below. */
interface Explanation {
  readonly heading: string
  readonly text: string
}

/** What a program says: a failure, or a line of its log, which need not have a code. */
interface Said {
  readonly code?: string | undefined
  readonly message: string
  readonly remedy?: string | undefined
}

/** Sections whose heading is a message. */
export function explanations(): Explanation[] {
  return readPage(troubleshooting)
    .split(/^(?=###? )/m)
    .flatMap((section) => {
      const [, heading, text] = /^### `([^\n]+)`\n(.*)$/s.exec(section) ?? []
      return heading === undefined || text === undefined ? [] : [{ heading, text }]
    })
}

/**
 * Asserts that the page explains this message under its exact text, with its code and every setting of its
 * remedy. Returns the heading.
 */
export function assertExplained({ code, message, remedy = '' }: Said): string {
  const found = explanations().filter(({ heading }) => isShownAs(heading, message))
  assert.equal(found.length, 1, `${found.length} headings of ${troubleshooting} say: ${message}`)
  const [{ heading, text } = { heading: '', text: '' }] = found
  if (code !== undefined) assert.ok(text.includes(`\`${code}\``), `${heading} lacks ${code}`)
  const settings = remedy.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? []
  for (const setting of settings) assert.ok(text.includes(setting), `${heading} lacks ${setting}`)
  return heading
}

/**
 * Whether a heading is this message: `<...>`, `...`, and A and B stand for anything, and ` / ` is between messages that
 * are explained together.
 */
function isShownAs(heading: string, message: string): boolean {
  return heading.split(' / ').some((shown) => {
    const parts = shown.split(/<[^>]+>|\.\.\.|\b[AB]\b/)
    const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.+')
    return new RegExp(`^${pattern}$`, 's').test(message)
  })
}
