import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCodes } from '../../src/errors.ts'
import { readSourceFiles } from '../support/source-files.ts'

const sources = readSourceFiles('src', 'operator').filter(({ path }) => path !== 'src/errors.ts')

test('every error code in the table is used by a program', () => {
  const unused = Object.keys(errorCodes).filter(
    (code) => !sources.some((source) => source.text.includes(`'${code}'`)),
  )
  assert.deepEqual(unused, [])
})

test('every error code that a program throws is in the table', () => {
  const used = sources.flatMap((source) =>
    [...source.text.matchAll(/new ServiceError\(\s*'([A-Z0-9_]+)'/g)].map(([, code]) => code ?? ''),
  )
  assert.deepEqual(
    used.filter((code) => !(code in errorCodes)),
    [],
  )
})
