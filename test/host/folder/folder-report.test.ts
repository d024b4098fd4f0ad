import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import { folderFailures, toFolderReport } from '../../../src/host/folder/folder-report.ts'
import type { RefusedFile } from '../../../src/host/folder/refusals.ts'

/** So many refused files, each for a reason of this length. */
function refusalsOf(count: number, message: string): ReadonlyMap<string, RefusedFile> {
  const refused = Array.from({ length: count }, (_, index): RefusedFile => {
    const name = `${String(index).padStart(5, '0')}${'n'.repeat(90)}.view`
    const error = new ServiceError('HOST_VIEW_REFUSED', message, { remedy: 'Change it.' })
    const file = { name, version: '1' }
    return { file, error, address: null, untilFewerThan: null, untilMs: 0 }
  })
  return new Map(refused.map((each) => [each.file.name, each]))
}

const facts = { path: '/views', problem: null, readAtMs: 0, files: [], served: 3 }

test('a folder lists the first thousand files that it refuses, and counts all of them', () => {
  const report = toFolderReport({ ...facts, refusals: refusalsOf(1_001, 'no') })
  assert.deepEqual([report.refused, report.others.length], [1_001, 1_000])
  assert.equal(report.last_read, '1970-01-01T00:00:00.000Z')
  assert.deepEqual(report.others[0], {
    file: `00000${'n'.repeat(75)}`,
    id: null,
    address: null,
    ...{ type: null, creator: null, registered_at: null, state: 'refused' },
    reason: 'HOST_VIEW_REFUSED: no',
  })
})

test('a reason of 300 characters is listed whole, and a longer one cut', () => {
  const reasonOf = (length: number): string | null | undefined => {
    const message = 'x'.repeat(length - 'HOST_VIEW_REFUSED: '.length)
    return toFolderReport({ ...facts, refusals: refusalsOf(1, message) }).others[0]?.reason
  }
  assert.match(reasonOf(300) ?? '', /^HOST_VIEW_REFUSED: x{281}$/)
  assert.match(reasonOf(301) ?? '', /^HOST_VIEW_REFUSED: x{280}…$/)
})

test('/health names ten refused files of a folder, and counts the others', () => {
  const failuresOf = (count: number) =>
    folderFailures({ ...facts, refusals: refusalsOf(count, 'no') })
  assert.deepEqual(failuresOf(0), [])
  assert.deepEqual([failuresOf(10).length, failuresOf(11).length], [10, 11])
  assert.deepEqual(failuresOf(10)[0], {
    code: 'HOST_VIEW_FILE_REFUSED',
    message: `00000${'n'.repeat(75)} of HOST_VIEWS_DIR is not served: HOST_VIEW_REFUSED: no`,
    remedy: 'Change it.',
  })
  const [further, ...none] = failuresOf(12).slice(10)
  assert.deepEqual(none, [])
  assert.equal(further?.message, '2 more files of HOST_VIEWS_DIR are not served.')
})

test('a folder that cannot be read is named before its files, with what stays served', () => {
  const messageOf = (problem: string) =>
    folderFailures({ ...facts, problem, refusals: refusalsOf(1, 'no') })[0]?.message
  assert.equal(
    messageOf('ENOENT'),
    'HOST_VIEWS_DIR (/views) cannot be read, there is no such folder; 3 Views that were served of it stay.',
  )
  assert.match(messageOf('EACCES') ?? '', / cannot be read, EACCES; /)
})
