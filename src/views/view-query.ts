/** The query of a View: one selection from one collection, without outer braces. */
import {
  type ArgumentNode,
  type ASTNode,
  type DefinitionNode,
  type FieldNode,
  Kind,
  type ObjectFieldNode,
  visit,
} from 'graphql'
import { invariant } from '../errors.ts'
import { typeName } from '../primitives/names.ts'
import { collectionNames, reservedFieldNames } from './names/reserved-names.ts'
import { parseText, wrongNode } from './source-text.ts'

/** What a View reads. */
export interface ViewQuery {
  /** The short name of the collection, as in `Log`. */
  readonly collection: string
  /** The selection, whose root has its full name. Whether its fields exist is for the schema to say. */
  readonly selection: FieldNode
}

/** The query of a View that reads another chain: it is none of ours, and nothing is wrong with it. */
interface ForeignQuery {
  /** The full name that it reads, as in `Arbitrum__One__Log`. */
  readonly foreign: string
}

/**
 * Reads the query of a View for a Host of `network`, as in `Ethereum__Mainnet`. Of several selections the first
 * counts, as with the tools that Views were made with before.
 * @throws ServiceError `VIEWS_QUERY_INVALID` with the place and what is accepted there.
 */
export function parseViewQuery(text: string, network: string): ViewQuery | ForeignQuery {
  const root = firstSelection(parseText('query', text))
  checkPlain(root)
  const { value } = root.name
  const collection = collectionNames.find(
    (name) => value === name || value === typeName(network, name),
  )
  if (collection !== undefined) {
    const name = { ...root.name, value: typeName(network, collection) }
    const { alias: _, ...plain } = root
    return { collection, selection: { ...plain, name } }
  }
  if (collectionNames.some((name) => value.endsWith(`__${name}`) && value.split('__').length === 3))
    return { foreign: value }
  throw wrongNode(
    'query',
    root.name,
    `${value} is not a collection`,
    `${oneCollection} Views read no other Views.`,
  )
}

function firstSelection([operation, second]: readonly DefinitionNode[]): FieldNode {
  invariant(
    operation?.kind === Kind.OPERATION_DEFINITION,
    'what begins with a brace is an operation',
  )
  if (second !== undefined)
    throw wrongNode('query', second, 'this follows the bracket that closes it', oneCollection)
  const [root] = operation.selectionSet.selections
  if (root?.kind === Kind.FIELD) return root
  throw wrongNode(
    'query',
    root ?? operation,
    'a fragment stands where a collection has to',
    oneCollection,
  )
}

/**
 * Refuses what a materialised View may not ask for: what differs between honest Hosts, and what means nothing for
 * a block alone.
 * @throws ServiceError `VIEWS_QUERY_INVALID`
 */
export function checkMaterializable({ collection, selection }: ViewQuery): void {
  if (unlikeHosts.has(collection))
    throw wrongNode('query', selection.name, `${collection} differs between Hosts`, notMaterialized)
  const refuse = (node: NamedNode, names: ReadonlySet<string>, why: string): void => {
    const { value } = node.name
    if (names.has(value)) throw wrongNode('query', node, `${value} ${why}`, notMaterialized)
  }
  const refuseAnywhere = (node: NamedNode): void => {
    refuse(node, unlikeHosts, 'differs between Hosts')
    refuse(node, overMany, 'says nothing about a block alone')
  }
  visit(selection, {
    [Kind.FIELD]: refuseAnywhere,
    [Kind.ARGUMENT]: refuseAnywhere,
    [Kind.OBJECT_FIELD]: (node) => refuse(node, unlikeHosts, 'differs between Hosts'),
  })
}

type NamedNode = FieldNode | ArgumentNode | ObjectFieldNode

const notMaterialized =
  'Leave it out, or give the type @materialized(if: false): then the View is computed when it is queried.'

/**
 * Collections, fields and arguments that depend on which Generators a Host has heard, or on its node’s version: the CID
 * of a block covers its total difficulty.
 */
const unlikeHosts: ReadonlySet<string> = new Set([
  ...['BlockSignature', 'SnapshotSignature', 'AttestationRecord'],
  ...['_attestations', '_proof', '_version', 'totalDifficulty', 'cid'],
])

/** Arguments that cut a list short, and fields that fold one. */
const overMany: ReadonlySet<string> = new Set([
  ...['limit', 'offset', 'groupBy'],
  ...[...reservedFieldNames].flatMap((name) => [name, `_${name.toLowerCase()}`]),
])

/**
 * Names of collections, fields or arguments, in one text: those that only a View may ask for whose rows are computed for
 * queries come last, and it says so.
 */
export function acceptedNames(names: readonly string[]): string {
  const computed = names.filter((name) => unlikeHosts.has(name) || overMany.has(name))
  const other = names.filter((name) => !computed.includes(name)).join(', ')
  return computed.length === 0
    ? other
    : `${other}, and with @materialized(if: false) ${computed.join(', ')}`
}

const oneCollection = `Begin with one of ${acceptedNames(collectionNames)}, short or with the chain’s prefix.`

/** A selection that means the same wherever it stands: no fragments, variables or directives. */
function checkPlain(root: FieldNode): void {
  const refused = (what: string) => (node: ASTNode) => {
    throw wrongNode('query', node, `a View has no ${what}`, 'Write fields and values out.')
  }
  visit(root, {
    [Kind.FRAGMENT_SPREAD]: refused('fragments'),
    [Kind.INLINE_FRAGMENT]: refused('fragments'),
    [Kind.VARIABLE]: refused('variables'),
    [Kind.DIRECTIVE]: refused('directives in its query'),
  })
}

/**
 * The names of what is selected of the collection, as documents have them; with `relation` those of what is selected of it, none
 * where it is not selected.
 */
export function selectedNames({ selection }: ViewQuery, relation?: string): readonly string[] {
  if (relation === undefined) return fieldsOf(selection).map(nameOf)
  return fieldsOf(selection)
    .filter((field) => nameOf(field) === relation)
    .flatMap((field) => fieldsOf(field).map(nameOf))
}

function fieldsOf({ selectionSet }: FieldNode): FieldNode[] {
  return (selectionSet?.selections ?? []).filter((node) => node.kind === Kind.FIELD)
}

function nameOf({ name, alias }: FieldNode): string {
  return (alias ?? name).value
}
