/**
 * What variables do to a document before a plan is compiled. An omitted variable drops the
 * condition it stands in and whatever becomes empty by that, so that it never turns into "equals
 * null", "matches nothing" or "matches everything" of an `_or`. Variables that decide the shape of
 * the result (`@skip`, `@include`, `groupBy`, `format`) make a plan of their own.
 */
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  Kind,
  type ObjectFieldNode,
  type ValueNode,
  visit,
} from 'graphql'

/** A value without what omitted variables stood in; undefined when nothing of it is left. */
function pruneValue(value: ValueNode, omitted: ReadonlySet<string>): ValueNode | undefined {
  switch (value.kind) {
    case Kind.VARIABLE:
      return omitted.has(value.name.value) ? undefined : value
    case Kind.OBJECT: {
      const fields = value.fields.flatMap((field) => pruneField(field, omitted))
      return fields.length === 0 && value.fields.length > 0 ? undefined : { ...value, fields }
    }
    case Kind.LIST: {
      const values = value.values.flatMap((item) => pruneValue(item, omitted) ?? [])
      return values.length === 0 && value.values.length > 0 ? undefined : { ...value, values }
    }
    default:
      return value
  }
}

function pruneField(field: ObjectFieldNode, omitted: ReadonlySet<string>): ObjectFieldNode[] {
  const value = pruneValue(field.value, omitted)
  return value === undefined ? [] : [{ ...field, value }]
}

/**
 * Arguments without those that depend on omitted variables alone. The arguments of an aggregate name
 * what it is taken over, so they stay (`keepEmpty`) when nothing is left in them.
 */
export function pruneArguments(
  args: readonly ArgumentNode[] | undefined,
  omitted: ReadonlySet<string>,
  keepEmpty: boolean,
): readonly ArgumentNode[] {
  if (args === undefined || omitted.size === 0) return args ?? []
  return args.flatMap((argument) => {
    const value = pruneValue(argument.value, omitted) ?? (keepEmpty ? emptyObject : undefined)
    return value === undefined ? [] : [{ ...argument, value }]
  })
}

const emptyObject: ValueNode = { kind: Kind.OBJECT, fields: [] }

/** True when a value has a variable anywhere. */
export function hasVariable(value: ValueNode): boolean {
  switch (value.kind) {
    case Kind.VARIABLE:
      return true
    case Kind.OBJECT:
      return value.fields.some((field) => hasVariable(field.value))
    case Kind.LIST:
      return value.values.some(hasVariable)
    default:
      return false
  }
}

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
