/**
 * `_commits`: the versions of documents named by CID or docID, whatever their collection. Each
 * document has exactly one.
 */
import type { FieldNode } from 'graphql'
import { blockSections, type Section } from '../primitives/collections.ts'
import { versionOf } from './commit-view.ts'
import { noAliases } from './filter.ts'
import { refusal } from './limits.ts'
import { type Arguments, toListRequest, wholeNumber } from './list-request.ts'
import type { NamedField, RootField } from './plan.ts'
import type { Row } from './row.ts'
import { coerceArguments, type Run, scanOf } from './run.ts'
import { selectRows } from './select-rows.ts'
import { bytesOf } from './stored-value.ts'
import { chargeVersion } from './version-cost.ts'

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
      await addVersions(found, selectRows(scanOf(run, entity), request), section, fields)
    }
  }
  const start = wholeNumber('offset', offset, source.node)
  const length = wholeNumber('limit', limit, source.node) || Infinity
  return found.slice(start, start + length)
}

async function addVersions(
  found: string[],
  selected: AsyncIterable<readonly Row[]>,
  section: Section,
  fields: readonly NamedField[],
): Promise<void> {
  for await (const rows of selected) {
    for (const row of rows) {
      const { work } = row.block.session
      work.addRows(1)
      found.push(...versionTexts(row, section, fields))
      if (work.isDue()) await work.turn()
    }
  }
}

function versionTexts(row: Row, section: Section, fields: readonly NamedField[]): string[] {
  const { work } = row.block.session
  chargeVersion(work, fields, bytesOf(row, section).length)
  const texts = versionOf(row, section, fields).map((version) => JSON.stringify(version))
  for (const { length } of texts) work.addBytes(length + 1)
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
