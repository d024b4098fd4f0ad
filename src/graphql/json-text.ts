/**
 * Answers are written as JSON text while rows are read: neither an object for each row nor a pass
 * over all of them at the end.
 */
import type { Value } from '../primitives/collections.ts'
import type { Attribute } from './entity.ts'
import type { Work } from './work.ts'

/** The JSON text of a value. */
export type WriteValue = (value: Value) => string

/**
 * Writes the values of an attribute. Those of stored documents are hex and docIDs but for free text,
 * and need no look for characters to escape.
 */
export function writerFor({ kind, list }: Attribute, isStored: boolean): WriteValue {
  if (!isStored || kind === 'text') return JSON.stringify
  if (kind === 'int' || kind === 'boolean') return String
  return list ? quotedItems : quoted
}

function quoted(value: Value): string {
  return value === null ? 'null' : `"${String(value)}"`
}

function quotedItems(value: Value): string {
  if (!Array.isArray(value)) return 'null'
  return value.length === 0 ? '[]' : `["${value.join('","')}"]`
}

/** Texts joined at once. */
const joinedTexts = 256

/** The text of a list, joined step by step, with turns for others in between. */
export async function listText(work: Work, texts: readonly string[]): Promise<string> {
  const parts: string[] = []
  for (let at = 0; at < texts.length; at += joinedTexts) {
    parts.push(texts.slice(at, at + joinedTexts).join(','))
    if (work.isDue()) await work.turn()
  }
  return `[${parts.join(',')}]`
}
