/**
 * Checks a row that a query returned against what is stored and signed, from the signatures up: the rows of its block are
 * read and their root computed again, and every signature over that root is verified once more.
 */

import { isDeepStrictEqual } from 'node:util'
import { ServiceError } from '../errors.ts'
import { isSealSigned, isStatementSigned } from '../mesh/signed-claims.ts'
import { createRootBuilder } from '../primitives/merkle.ts'
import type { Snapshot, StoredViewRows } from '../store/store.ts'
import { readRow } from '../views/rows/row-codec.ts'
import { parseRowID } from '../views/rows/row-id.ts'
import type { RowVerdict } from './contract.ts'
import type { FollowedViews, KnownView } from './followed-views.ts'

interface ProofParts {
  readonly views: Pick<FollowedViews, 'find'>
  readonly isAcceptedHost: (identity: string) => boolean
  readonly signers: ReadonlySet<string>
}

/** `row` is an object of an answer, with its `_docID`. Never throws for anything in it. */
export function verifyRow(snapshot: Snapshot, row: unknown, parts: ProofParts): RowVerdict {
  if (typeof row !== 'object' || row === null) return nothing('This is no object.')
  const fields = row as Readonly<Record<string, unknown>>
  const { _docID: text } = fields
  const id = typeof text === 'string' ? parseRowID(text) : null
  if (id === null) return nothing('The row has no _docID of a View; ask for it in the query.')
  const view = parts.views.find(id.view)
  const number = snapshot.rowBlocks.heightOf(id.blockHash)
  const rows = view && number !== undefined ? snapshot.viewRows(view.slot, number) : undefined
  if (view === undefined || number === undefined || rows === undefined)
    return nothing('The block of the row is not stored.')
  if (id.position >= rows.count) return nothing('The block has fewer rows.')
  const values = valuesAt(rows, id.position)
  const root = rootOf(rows)
  if (values === null || root === null) return nothing('The stored rows are damaged.')
  const { wrong, same, unproven } = compare(view, values, fields)
  if (wrong !== undefined) return nothing(`The field ${wrong} is not what the Hosts signed.`)
  const block = { number, hash: id.blockHash }
  const hosts = signedBy(snapshot, view, block, { root, count: rows.count }, parts)
  if (hosts.length === 0) return nothing('No accepted Host signed these rows.')
  const signers = sealedBy(snapshot, block, parts)
  return { proves: 'row', view: view.id, block, hosts, signers, fields: same, unproven }
}

function nothing(why: string): RowVerdict {
  return { proves: 'nothing', why }
}

function valuesAt(rows: StoredViewRows, position: number): readonly unknown[] | null {
  try {
    return readRow(rows.openChunk(rows.chunkOf(position)).values(position)).values
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

/** Computed from the rows, not read. */
function rootOf(rows: StoredViewRows): string | null {
  try {
    const tree = createRootBuilder()
    for (let chunk = 0; chunk < rows.chunkCount; chunk++) {
      const { first, length, values } = rows.openChunk(chunk)
      for (let position = first; position < first + length; position++) tree.add(values(position))
    }
    return Buffer.from(tree.finish()).toString('hex')
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

function compare(
  { rowType }: KnownView,
  values: readonly unknown[],
  row: Readonly<Record<string, unknown>>,
): { wrong: string | undefined; same: string[]; unproven: string[] } {
  const stored = new Map(rowType.fields.map(({ name }, place) => [name, values[place]]))
  const names = Object.keys(row).filter((name) => name !== '_docID')
  const same = names.filter((name) => stored.has(name))
  return {
    wrong: same.find((name) => !isDeepStrictEqual(stored.get(name), row[name])),
    same,
    unproven: names.filter((name) => !stored.has(name)),
  }
}

function signedBy(
  snapshot: Snapshot,
  { id }: KnownView,
  { number, hash }: { readonly number: number; readonly hash: string },
  rows: { readonly root: string; readonly count: number },
  { isAcceptedHost }: ProofParts,
): string[] {
  const signed = snapshot.statementExcerpts(number).filter((statement) => {
    const leaf = statement.leaves.find(({ view }) => view === id)
    return statement.blockHash === hash && leaf?.rowsRoot === rows.root && leaf.count === rows.count
  })
  const valid = signed.filter(
    (statement) => isAcceptedHost(statement.signatureIdentity) && isStatementSigned(statement),
  )
  return [...new Set(valid.map(({ signatureIdentity }) => signatureIdentity))].sort()
}

function sealedBy(
  snapshot: Snapshot,
  { number, hash }: { readonly number: number; readonly hash: string },
  { signers }: ProofParts,
): string[] {
  const root = snapshot.rowBlocks.header(number)?.root
  const valid = snapshot
    .seals(number)
    .filter(
      (seal) =>
        seal.blockHash === hash &&
        seal.merkleRoot === root &&
        signers.has(seal.signatureIdentity) &&
        isSealSigned(seal),
    )
  return [...new Set(valid.map(({ signatureIdentity }) => signatureIdentity))].sort()
}
