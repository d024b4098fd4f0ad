/**
 * How many pairs of fields have the same response key in the same place, all fragments spread.
 * Validation compares each such pair, and what is selected below it, so their number is bounded first.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import { maxFieldPairs, maxNesting, maxSpreadFields, refusal } from '../budget/limits.ts'

/** A count over one document. */
interface Count {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Fields and spreads visited so far. */
  nodes: number
  pairs: number
}

/** Throws GraphQLError where validation would have to compare too many. */
export function checkFieldPairs(document: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node)
  }
  const count: Count = { fragments, nodes: 0, pairs: 0 }
  for (const node of document.definitions) {
    if ('selectionSet' in node) addPairs(count, [node.selectionSet], 0)
  }
}

/** Adds the pairs of sets that belong to one place, then those below; only fragments within themselves go deeper. */
function addPairs(count: Count, sets: readonly SelectionSetNode[], depth: number): void {
  if (depth > maxNesting) return
  const fields = new Map<string, FieldNode[]>()
  const spread = new Set<string>()
  for (const set of sets) gather(count, set, fields, spread)
  for (const nodes of fields.values()) {
    count.pairs += (nodes.length * (nodes.length - 1)) / 2
    if (count.pairs > maxFieldPairs) throw tooManyPairs()
    const below = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    if (below.length > 0) addPairs(count, below, depth + 1)
  }
}

function gather(
  count: Count,
  { selections }: SelectionSetNode,
  fields: Map<string, FieldNode[]>,
  spread: Set<string>,
): void {
  for (const node of selections) {
    if (++count.nodes > maxSpreadFields) throw tooManyFields()
    if (node.kind === Kind.FIELD) {
      const key = node.alias?.value ?? node.name.value
      const nodes = fields.get(key)
      if (nodes === undefined) fields.set(key, [node])
      else nodes.push(node)
    } else if (node.kind === Kind.INLINE_FRAGMENT) {
      gather(count, node.selectionSet, fields, spread)
    } else if (!spread.has(node.name.value)) {
      spread.add(node.name.value)
      const fragment = count.fragments.get(node.name.value)
      if (fragment !== undefined) gather(count, fragment.selectionSet, fields, spread)
    }
  }
}

const tooManyFields = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The operations of the query have more than ${maxSpreadFields} fields and fragments, all fragments spread.`,
    'Ask for several documents in one field by `_in`, or split the query.',
  )

const tooManyPairs = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query selects fields of one name in one place so often that more than ${maxFieldPairs} pairs of them would have to be compared.`,
    'Select each field once, give others an alias of their own, or split the query.',
  )
