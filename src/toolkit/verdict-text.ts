/** What a proof shows, as a line for people or programs. No control characters of the answer reach a terminal. */
import type { AnsweredVerdict, Sealed, Verdict } from '../verify/verify.ts'

/** Names listed at most; there may be thousands. */
const maxNames = 20

/** One line: where the document is in the answer, and what is proven of it or why nothing is. */
export function verdictText({ path, verdict }: AnsweredVerdict): string {
  return `${pathText(path)}: ${provenText(verdict)}`
}

/** The same as one JSON object, in ASCII. */
export function verdictJson({ path, verdict }: AnsweredVerdict): string {
  return asciiJson({ path, ...verdict })
}

function provenText(verdict: Verdict): string {
  switch (verdict.proves) {
    case 'document':
      return `proven: ${verdict.docID}${sealedText(verdict)}${unprovenText(verdict.unproven)}`
    case 'cid':
      return `only the CID is proven: ${verdict.cid}${sealedText(verdict)}; for the document ask for ${nameList(verdict.missing)} too${unprovenText(verdict.unproven)}`
    case 'nothing':
      return `not proven (${verdict.failure.code}): ${verdict.failure.message}`
  }
}

function sealedText({ network, block, signers }: Sealed): string {
  return `, in block ${block.number} (${block.hash}) of ${network}, signed by ${signers.join(', ')}`
}

function unprovenText(names: readonly string[]): string {
  return names.length === 0 ? '' : `; not proven: ${nameList(names)}`
}

function nameList(names: readonly string[]): string {
  const listed = names.slice(0, maxNames).map(nameText)
  const more = names.length - listed.length
  return (more > 0 ? [...listed, `${more} more`] : listed).join(', ')
}

function pathText(path: AnsweredVerdict['path']): string {
  if (path.length === 0) return 'the answer'
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${nameText(key)}`))
    .join('')
    .replace(/^\./, '')
}

/** A name of GraphQL as it is, anything else quoted. */
function nameText(name: string): string {
  return /^\w{1,100}$/.test(name) ? name : asciiJson(name.slice(0, 100))
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
