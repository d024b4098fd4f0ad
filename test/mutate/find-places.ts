/** Every place of a source file at which a change may be tried. */
import ts from 'typescript'
import { replacementsOf } from './operators.ts'
import type { Place } from './place.ts'
import { isUnseen } from './unseen.ts'

/** The places in their order; `text` is the file's. */
export function findPlaces(path: string, text: string): Place[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const places: Place[] = []
  const visit = (node: ts.Node): void => {
    if (isUnseen(node)) return
    const start = node.getStart()
    const end = node.getEnd()
    const mutants = replacementsOf(node).map((text) => ({ path, start, end, text }))
    if (mutants.length > 0) places.push({ path, start, mutants })
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return places
}
