import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSection } from '../generate/section-text.ts'
import { readSourceFiles } from '../support/source-files.ts'
import { readPage } from './support/page.ts'

const rows = readSection(readPage('docs/development/benchmarks.md'), 'performance').split('\n')

test('the performance tables have every figure of the bench', () => {
  const names = readSourceFiles('test/bench').flatMap((file) =>
    [...file.text.matchAll(/^ +name: (['"`])(.+?)(?:\$\{|\1,)/gm)].map(([, , name]) => name ?? ''),
  )
  assert.ok(names.length > 0)
  const isShown = (name: string): boolean => rows.some((row) => row.startsWith(`| ${name}`))
  assert.deepEqual(
    names.filter((name) => !isShown(name)),
    [],
  )
})

test('the performance tables give a cause for every goal that is missed', () => {
  const missed = rows.filter((row) => row.includes('| MISSED |')).map((row) => row.split(' | ')[0])
  assert.deepEqual(
    missed.filter((figure) => !rows.some((row) => row.startsWith(`- ${figure?.slice(2)}: `))),
    [],
  )
})
