/** Finds the documents of an answer, however they are nested. */
import { isObject } from '../json-object.ts'
import type { AnsweredDocument } from './answered-document.ts'

/** Where something stands in an answer: keys and, in lists, positions from 0. */
export type AnswerPath = readonly (string | number)[]

/** A document with a `_proof`, or a part of the answer that nests too deep to be searched. */
interface FoundPart {
  readonly path: AnswerPath
  readonly document: AnsweredDocument | null
}

/** Levels of lists and objects; a Host returns no more than 2 for each of at most 15 selections. */
const maxDepth = 64

/** An object or a list of the answer, with its place. */
interface Part {
  readonly value: object
  readonly path: AnswerPath
}

/** Every object that has a `_proof`, the outer ones first, in the order of the answer. */
export function findDocuments(answer: unknown): readonly FoundPart[] {
  const found: FoundPart[] = []
  const seen = new Set<object>()
  const waiting: Part[] = isPart(answer) ? [{ value: answer, path: [] }] : []
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { value, path } = part
    if (seen.has(value)) continue
    seen.add(value)
    if (path.length > maxDepth) {
      found.push({ path, document: null })
    } else {
      if (isObject(value) && '_proof' in value) found.push({ path, document: value })
      for (const below of partsBelow(part)) waiting.push(below)
    }
  }
  return found
}

/** What is nested below a part, the last first; its proof is no part of the answer of its own. */
function partsBelow({ value, path }: Part): readonly Part[] {
  const isList = Array.isArray(value)
  const parts: Part[] = []
  for (const [key, below] of Object.entries(value).toReversed()) {
    if (key === '_proof' || !isPart(below)) continue
    parts.push({ value: below, path: [...path, isList ? Number(key) : key] })
  }
  return parts
}

function isPart(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
