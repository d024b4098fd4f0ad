/** Names that the rest of a Host's GraphQL schema has, so that no View and no field of one can have them. */
import { collections } from '../../primitives/collections.ts'

/** Collections by their short names, as queries of Views may write them. */
export const collectionNames: readonly string[] = [...Object.keys(collections), 'AttestationRecord']

/** Types that no View can be named after, besides those with two underscores. */
const reservedTypeNames: ReadonlySet<string> = new Set([
  ...collectionNames,
  ...['Query', 'Mutation', 'Subscription'],
  ...['String', 'Int', 'Float', 'Boolean', 'ID', 'BigInt', 'JSON', 'Quantity'],
  ...[
    'Commit',
    'CommitLink',
    'Signature',
    'InclusionProof',
    'ProvenBlock',
    'Ordering',
    'ValueFormat',
  ],
])

/** How the names of types end that every View has beside its own. */
const reservedEndings: readonly string[] = [
  'FilterArg',
  'OrderArg',
  'NumericFieldsArg',
  'OperatorBlock',
]

/** Whether no View can be named so: the name of a type, of a field beside the collections, or of what belongs to one. */
export function isReservedTypeName(name: string): boolean {
  return (
    reservedTypeNames.has(name) ||
    reservedFieldNames.has(name) ||
    reservedEndings.some((ending) => name.endsWith(ending)) ||
    name.startsWith('AttestationRecord_') ||
    collectionNames.some((collection) => name === `${collection}Field`)
  )
}

/** Fields that every collection has without declaring them. */
export const reservedFieldNames: ReadonlySet<string> = new Set([
  'COUNT',
  'SUM',
  'AVG',
  'MIN',
  'MAX',
  'GROUP',
])
