/** Finds the documents of an answer, however they are nested. */
import type { AnsweredDocument } from './answered-fields.ts'
import { isObject } from './proof.ts'

/** Where something stands in an answer: keys and, in lists, positions from 0. */
export type AnswerPath = readonly (string | number)[]

/** A document with a `_proof`, or a part of the answer that nests too deep to be looked through. */
export interface FoundPart {
  readonly path: AnswerPath
  readonly document: AnsweredDocument | null
}

/** Levels of lists and objects; a Host answers no more than 2 for each of at most 15 selections. */
const maxDepth = 64

/** Every object that has a `_proof`, the outer ones first, in the order of the answer. */
export function findDocuments(answer: unknown): readonly FoundPart[] {
  const found: FoundPart[] = []
  const seen = new Set<object>()
  const waiting: { readonly value: unknown; readonly path: AnswerPath }[] = [
    { value: answer, path: [] },
  ]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path } = next
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (path.length > maxDepth) {
      found.push({ path, document: null })
      continue
    }
    if (isObject(value) && '_proof' in value) found.push({ path, document: value })
    const isList = Array.isArray(value)
    const parts = Object.entries(value).filter(([key]) => key !== '_proof')
    for (const [key, part] of parts.toReversed()) {
      waiting.push({ value: part, path: [...path, isList ? Number(key) : key] })
    }
  }
  return found
}
