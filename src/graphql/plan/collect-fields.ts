/**
 * Collects the fields of selection sets: fragments are spread, `@skip` and `@include` decided, and
 * fields with one response key brought together
 * (https://spec.graphql.org/October2021/#sec-Field-Collection).
 */
import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { maxSelections, refusal, tooManySelections } from '../budget/limits.ts'

/** The variables that decide the shape of an answer: those of directives, groups and formats. */
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
    if (selection.kind === Kind.FIELD) addField(selection, fields)
    else collectInto(collector, spread(collector, selection, seen), fields, seen)
  }
}

function addField(node: FieldNode, fields: Map<string, FieldNode[]>): void {
  const key = node.alias?.value ?? node.name.value
  if (key === '__proto__') throw reservedKey(node)
  const nodes = fields.get(key)
  if (nodes === undefined) fields.set(key, [node])
  else nodes.push(node)
}

/** The selections of a fragment; none where it is already in the same set. */
function spread(
  { fragments }: Collector,
  selection: InlineFragmentNode | FragmentSpreadNode,
  seen: Set<string>,
): readonly SelectionNode[] {
  if (selection.kind === Kind.INLINE_FRAGMENT) return selection.selectionSet.selections
  const name = selection.name.value
  if (seen.has(name)) return []
  seen.add(name)
  return fragments.get(name)?.selectionSet.selections ?? []
}

/** Objects of the answer are plain objects, in which this name means something else. */
function reservedKey(node: FieldNode): Error {
  return refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    'The alias __proto__ is reserved.',
    'Choose another alias.',
    node,
  )
}

function isIncluded(
  node: { readonly directives?: readonly DirectiveNode[] | undefined },
  shape: ShapeVariables,
): boolean {
  if (!node.directives?.length) return true
  const holder = { directives: node.directives }
  const skip = getDirectiveValues(GraphQLSkipDirective, holder, shape)
  const include = getDirectiveValues(GraphQLIncludeDirective, holder, shape)
  return skip?.['if'] !== true && include?.['if'] !== false
}
