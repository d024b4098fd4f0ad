/** Queries whose answers can be proven. */
import { type CollectionName, collections, storedFields } from '../../src/primitives/collections.ts'
import { proofSelection } from '../../src/verify/proof.ts'

/** All fields of a collection with `_docID` and `_proof`; quantities and addresses in a format, where one is given. */
export function provable(
  name: CollectionName,
  formats: { readonly quantity?: 'DECIMAL'; readonly address?: 'CHECKSUM' } = {},
): string {
  const fields = storedFields(name).map((field) => {
    const format =
      field.kind === 'quantity' || field.kind === 'address' ? formats[field.kind] : undefined
    return format === undefined ? field.name : `${field.name}(format: ${format})`
  })
  return ['_docID', ...fields, proofSelection].join(' ')
}

/** Whole blocks with everything in them and their seals; `args` select the blocks, as in `limit: 1`. */
export function wholeBlocks(args: string): string {
  return `{
    Block(${args}) { ${provable('Block')}
      transactions { ${provable('Transaction')}
        logs { ${provable('Log')} }
        accessList { ${provable('AccessListEntry')} } } }
    BlockSignature(order: {blockNumber: ASC}) { ${provable('BlockSignature')} } }`
}

/** The collections that have documents with a proof. */
export const provableCollections: readonly CollectionName[] = Object.values(collections)
  .map(({ name }) => name)
  .filter((name) => name !== 'SnapshotSignature')
