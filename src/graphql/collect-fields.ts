/**
 * Collects the fields of selection sets: fragments are spread, `@skip` and `@include` decided, and
 * fields with one response key brought together
 * (https://spec.graphql.org/October2021/#sec-Field-Collection).
 */
import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { maxSelections } from './limits.ts'
import { tooManySelections } from './syntax.ts'

/** What decides about the shape of an answer: variables of directives, groups and formats. */
export type ShapeVariables = Readonly<Record<string, unknown>>

/** What collecting needs of the document. */
export interface Collector {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly shape: ShapeVariables
  /** Fields collected so far in the whole operation. */
  count: number
}

/** Field nodes by response key, in the order of the query. */
export type CollectedFields = ReadonlyMap<string, readonly FieldNode[]>

/** The fields of an operation or of all nodes of one field. */
export function collectFields(
  collector: Collector,
  sets: readonly (SelectionSetNode | undefined)[],
): CollectedFields {
  const fields = new Map<string, FieldNode[]>()
  const seen = new Set<string>()
  for (const set of sets) collectInto(collector, set?.selections ?? [], fields, seen)
  collector.count += fields.size
  if (collector.count > maxSelections) throw tooManySelections()
  return fields
}

function collectInto(
  collector: Collector,
  selections: readonly SelectionNode[],
  fields: Map<string, FieldNode[]>,
  seen: Set<string>,
): void {
  for (const selection of selections) {
    if (!isIncluded(selection, collector.shape)) continue
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value
      const nodes = fields.get(key)
      if (nodes === undefined) fields.set(key, [selection])
      else nodes.push(selection)
      continue
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      collectInto(collector, selection.selectionSet.selections, fields, seen)
      continue
    }
    const name = selection.name.value
    const fragment = collector.fragments.get(name)
    if (fragment === undefined || seen.has(name)) continue
    seen.add(name)
    collectInto(collector, fragment.selectionSet.selections, fields, seen)
  }
}

function isIncluded(
  node: { readonly directives?: readonly DirectiveNode[] | undefined },
  shape: ShapeVariables,
): boolean {
  if (node.directives === undefined || node.directives.length === 0) return true
  const holder = { directives: node.directives }
  const skip = getDirectiveValues(GraphQLSkipDirective, holder, shape)
  const include = getDirectiveValues(GraphQLIncludeDirective, holder, shape)
  return skip?.['if'] !== true && include?.['if'] !== false
}
