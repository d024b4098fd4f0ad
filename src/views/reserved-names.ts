/** Names that the rest of a Host's GraphQL schema has, so that no View and no field of one can have them. */
import { collections } from '../primitives/collections.ts'

/** Collections by their short names, as queries of Views may write them. */
export const collectionNames: readonly string[] = [...Object.keys(collections), 'AttestationRecord']

/** Types that no View can be named after, besides those with two underscores. */
export const reservedTypeNames: ReadonlySet<string> = new Set([
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
  ...['ID', 'String', 'StringList', 'Quantity', 'Int', 'Boolean'].map(
    (name) => `${name}OperatorBlock`,
  ),
  'StringFilterArg',
])

/** Fields that every collection has without declaring them. */
export const reservedFieldNames: ReadonlySet<string> = new Set([
  'COUNT',
  'SUM',
  'AVG',
  'MIN',
  'MAX',
  'GROUP',
])
