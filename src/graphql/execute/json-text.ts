/**
 * Answers are written as JSON text while rows are read: neither an object for each row nor a pass
 * over all of them at the end.
 */
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { QueryBudget } from '../budget/query-budget.ts'
import { visitYielding } from '../budget/yielding-loop.ts'
import type { Attribute } from '../catalog/entity.ts'

/** The JSON text of a value. */
type WriteValue = (value: JsonValue) => string

/**
 * Writes the values of an attribute. Those of stored documents are hex and docIDs except for free text,
 * and hold no characters to escape.
 */
export function writerFor({ kind, list }: Attribute, isStored: boolean): WriteValue {
  if (!isStored || kind === 'text') return JSON.stringify
  if (kind === 'int' || kind === 'boolean') return String
  return list ? quotedItems : quoted
}

function quoted(value: JsonValue): string {
  return value === null ? 'null' : `"${String(value)}"`
}

function quotedItems(value: JsonValue): string {
  if (!Array.isArray(value)) return 'null'
  return value.length === 0 ? '[]' : `["${value.join('","')}"]`
}

/** The text of a list; yields the thread in between. Its items are copied together when it is sent. */
export async function listText(budget: QueryBudget, texts: readonly string[]): Promise<string> {
  let list = '['
  await visitYielding(budget, texts, (text) => {
    list += list === '[' ? text : `,${text}`
  })
  return `${list}]`
}

/** Characters of a piece of an answer; a longer text is a piece of its own. */
const pieceLength = 64 * 1024

/** Items of a list as pieces of its text, with commas between them. */
export function itemPieces(texts: readonly string[]): string[] {
  const pieces: string[] = []
  let start = 0
  let length = 0
  for (let end = 1; end <= texts.length; end++) {
    length += texts[end - 1]?.length ?? 0
    if (length < pieceLength && end < texts.length) continue
    if (start > 0) pieces.push(',')
    pieces.push(texts.slice(start, end).join(','))
    start = end
    length = 0
  }
  return pieces
}
