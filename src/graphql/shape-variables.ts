/**
 * Finds the variables that decide about the shape of an answer: those of `@skip` and `@include`, and
 * those under `groupBy` and `format`. A plan is compiled for their values.
 */
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  Kind,
  type ValueNode,
  visit,
} from 'graphql'

/** Names of the variables, over all operations and fragments of a document. */
export function shapeVariables(document: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>()
  visit(document, {
    [Kind.DIRECTIVE]: (node: DirectiveNode) => {
      for (const argument of node.arguments ?? []) addVariables(argument.value, names)
      return false
    },
    [Kind.ARGUMENT]: (node: ArgumentNode) => {
      const name = node.name.value
      if (name === 'groupBy' || name === 'format') addVariables(node.value, names)
      return false
    },
  })
  return names
}

function addVariables(value: ValueNode, names: Set<string>): void {
  if (value.kind === Kind.VARIABLE) names.add(value.name.value)
  if (value.kind === Kind.LIST) for (const item of value.values) addVariables(item, names)
}
