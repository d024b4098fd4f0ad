/**
 * AttestationRecord_<View>: for each block and all rows that were signed of the View, the Hosts that signed them. Derived
 * from their statements, so that it cannot disagree with them; nothing of it is stored.
 */
import { invariant } from '../../errors.ts'
import type { RowVote } from '../../row-votes/row-votes.ts'
import type { Row } from '../rows/row.ts'
import { rowVotesOf } from '../rows/row-votes.ts'
import type { Attribute, AttributeKind, Entity, ViewSource } from './entity.ts'

const docIDPrefix = 'attestation-'

interface Column extends Pick<Attribute, 'course' | 'ofBlock' | 'heightOf'> {
  readonly name: string
  readonly kind: AttributeKind
  readonly list?: true
  readonly description: string
  read(row: Row, vote: RowVote): ReturnType<Attribute['read']>
}

/** The entity; one row for all rows that Hosts signed of a block, those that are stored first. */
export function viewAttestation(view: ViewSource): Entity {
  const name = `AttestationRecord_${view.name}`
  const attributes = columnsOf(view).map((column): [string, Attribute] => {
    const { read, list = false, ...rest } = column
    return [column.name, { ...rest, list, read: (row) => read(row, voteAt(row, view)) }]
  })
  return {
    name,
    typeName: name,
    description: `How many Hosts signed identical rows of the View ${view.name} for a block.`,
    section: null,
    votesOn: view,
    attributes: new Map(attributes),
    links: new Map(),
    rowsIn: (block) => rowVotesOf(block, view).length,
  }
}

function voteAt(row: Row, view: ViewSource): RowVote {
  const vote = rowVotesOf(row.block, view)[row.position]
  invariant(
    vote !== undefined,
    `block ${row.block.height} has rows ${row.position} of ${view.name}`,
  )
  return vote
}

function columnsOf({ id }: ViewSource): readonly Column[] {
  const prefix = `view:${id}:`
  const attested = ({ block }: Row, { rowsRoot, count }: RowVote): string =>
    `${prefix}${block.height}:${rowsRoot}:${count}`
  const heightOf = (start: string) => (text: string) => {
    if (!text.startsWith(start)) return null
    const [height = ''] = text.slice(start.length).split(':')
    return wholeNumber.test(height) ? Number(height) : null
  }
  return [
    {
      name: '_docID',
      kind: 'id',
      description: 'Identity of the record.',
      heightOf: heightOf(docIDPrefix + prefix),
      read: (row, vote) => docIDPrefix + attested(row, vote),
    },
    {
      name: 'attested_doc',
      kind: 'text',
      description: '`view:<View ID>:<number>:<root over the rows>:<number of rows>`.',
      heightOf: heightOf(prefix),
      read: attested,
    },
    {
      name: 'source_doc',
      kind: 'text',
      list: true,
      description: 'Public keys of the Hosts that signed these rows, in hex.',
      read: (_, { hosts }) => hosts,
    },
    {
      name: 'doc_type',
      kind: 'text',
      description: 'What is attested: `View`.',
      read: () => 'View',
    },
    {
      name: 'vote_count',
      kind: 'int',
      description: 'How many distinct Hosts signed these rows.',
      read: (_, { hosts }) => hosts.length,
    },
    {
      name: 'blockNumber',
      kind: 'int',
      description: 'Height of the block.',
      course: 'height',
      ofBlock: true,
      read: ({ block }) => block.height,
    },
    {
      name: 'blockHash',
      kind: 'hash',
      description: 'Hash of the block.',
      ofBlock: true,
      read: ({ block }) => block.header.hash,
    },
    {
      name: 'rowsRoot',
      kind: 'text',
      description: 'Merkle root over the rows in their order: hex without 0x.',
      read: (_, { rowsRoot }) => rowsRoot,
    },
    {
      name: 'rowCount',
      kind: 'int',
      description: 'Number of rows.',
      read: (_, { count }) => count,
    },
  ]
}

/** Heights have at most 15 digits. */
const wholeNumber = /^(?:0|[1-9][0-9]{0,14})$/
