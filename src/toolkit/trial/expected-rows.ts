/** Compares the rows of a test with those that its author expects. */
import { isDeepStrictEqual } from 'node:util'
import { ServiceError } from '../../errors.ts'
import { isObject } from '../../json-object.ts'
import { readJsonFile } from '../blocks/fixture.ts'
import { counted } from '../cli/counted.ts'
import type { ViewFinding } from './finding.ts'
import type { TrialRow } from './trial-job.ts'

/** Differences that are shown. */
const maxShown = 10
const maxText = 200

/**
 * The rows of a file: a list, or what `view test --json` prints. Each may leave out fields, which are then not compared.
 * @throws ServiceError `TOOLKIT_EXPECTED_INVALID`
 */
export async function readExpectedRows(path: string): Promise<readonly TrialRow[]> {
  const value = await readJsonFile(path, 'TOOLKIT_EXPECTED_INVALID')
  const rows = isObject(value) ? value['rows'] : value
  if (Array.isArray(rows) && rows.every(isObject)) return rows
  throw new ServiceError('TOOLKIT_EXPECTED_INVALID', `${path} does not hold a list of rows`, {
    remedy: 'Write a list of objects, or save what viewmesh view test --json prints.',
  })
}

/** What differs, as errors. `rowCount` is of all rows; `found` are the first of them where they are too many to keep. */
export function compareWithExpected(
  expected: readonly TrialRow[],
  found: readonly TrialRow[],
  rowCount: number,
): readonly ViewFinding[] {
  const differences = expected.flatMap((row, index) => differencesOf(row, found[index], index))
  const count =
    expected.length === rowCount
      ? []
      : [`${counted(expected.length, 'row')} expected, ${rowCount} found`]
  const uncompared =
    found.length < Math.min(expected.length, rowCount)
      ? [`only the first ${found.length} rows can be compared; test fewer blocks`]
      : []
  const all = [...count, ...uncompared, ...differences]
  const shown = all.slice(0, maxShown)
  const more = all.length > maxShown ? [`${all.length - maxShown} more differences`] : []
  return [...shown, ...more].map((message) => ({
    severity: 'error',
    kind: 'row',
    code: 'ROWS_NOT_AS_EXPECTED',
    message,
    remedy: 'Change the View, or save the rows again where they are as they should be.',
    blocks: [],
  }))
}

function differencesOf(expected: TrialRow, found: TrialRow | undefined, index: number): string[] {
  if (found === undefined) return []
  return Object.entries(expected)
    .filter(([name, value]) => !isDeepStrictEqual(value, found[name]))
    .map(
      ([name, value]) =>
        `row ${index}: ${name} is ${textOf(found[name])}, and ${textOf(value)} is expected`,
    )
}

function textOf(value: unknown): string {
  return (JSON.stringify(value) ?? 'missing').slice(0, maxText)
}
