/**
 * `_commits`: the versions of documents named by CID or docID, whatever their collection. Each
 * document has exactly one.
 */
import type { FieldNode } from 'graphql'
import { blockSections, type Section } from '../../primitives/collections.ts'
import { refusal } from '../budget/limits.ts'
import { visitYielding } from '../budget/yielding-loop.ts'
import { noAliases } from '../filter/filter.ts'
import { type Arguments, toListRequest, wholeNumber } from '../filter/list-request.ts'
import type { NamedField, RootField } from '../plan/plan.ts'
import { chargeVersion } from '../plan/version-cost.ts'
import type { Row } from '../rows/row.ts'
import { bytesOf } from '../rows/stored-value.ts'
import { selectRows } from '../scan/select-rows.ts'
import { versionOf } from './commit-view.ts'
import { coerceArguments, type Run, scanOf } from './run.ts'

/** The JSON texts of the versions that the arguments name. Throws GraphQLError when they name none in particular. */
export async function findCommits(
  run: Run,
  { source, fields }: Extract<RootField, { type: 'commits' }>,
): Promise<readonly string[]> {
  const { cid, docID, limit, offset } = coerceArguments(run, source)
  const named = namesOf(cid ?? null, docID ?? null, source.node)
  const found: string[] = []
  for (const section of blockSections) {
    const entity = run.catalog.get(section)
    if (entity === undefined) continue
    for (const names of named) {
      const request = toListRequest(run.catalog, entity, names, noAliases, source.node)
      const selected = selectRows(scanOf(run, entity), request)
      for await (const rows of selected) await addVersions(run, found, rows, section, fields)
    }
  }
  const start = wholeNumber('offset', offset, source.node)
  const length = wholeNumber('limit', limit, source.node) || Infinity
  return found.slice(start, start + length)
}

async function addVersions(
  { session: { budget } }: Run,
  found: string[],
  rows: readonly Row[],
  section: Section,
  fields: readonly NamedField[],
): Promise<void> {
  await visitYielding(budget, rows, (row) => {
    budget.addRows(1)
    found.push(...versionTexts(row, section, fields))
  })
}

function versionTexts(row: Row, section: Section, fields: readonly NamedField[]): string[] {
  const { budget } = row.block.session
  chargeVersion(budget, fields, bytesOf(row, section).length)
  const texts = versionOf(row, section, fields).map((version) => JSON.stringify(version))
  for (const { length } of texts) budget.addBytes(length + 1)
  return texts
}

/** Arguments of a list for each CID, or for all docIDs at once. */
function namesOf(cid: unknown, docID: unknown, node: FieldNode): readonly Arguments[] {
  if (cid !== null) {
    const cids = new Set<unknown>(Array.isArray(cid) ? cid : [cid])
    return [...cids].map((one) => ({ cid: one, docID }))
  }
  if (docID !== null) return [{ docID }]
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    'Every stored document has a commit, so they are only found by name.',
    'Give `_commits` a cid or a docID.',
    node,
  )
}
