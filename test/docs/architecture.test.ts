import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { innerFloors, sourceFloors } from '../architecture/floors.ts'
import { repository } from '../support/repository.ts'
import { readPage } from './support/page.ts'

const page = readPage('docs/architecture.md')
const named = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => `${name}`)

function isFolder(path: string): boolean {
  return statSync(`${repository}/${path}`, { throwIfNoEntry: false })?.isDirectory() === true
}

test('the page has every room of src in its table of floors', () => {
  const rows = page.split('\n').filter((line) => /^\| (?:top|\d) \|/.test(line))
  const shown = rows.toReversed().flatMap((row) => named(row.split(' | ')[1] ?? ''))
  assert.deepEqual(
    shown.map((name) => name.replace(/\.ts$/, '')).toSorted(),
    sourceFloors.flat().toSorted(),
  )
})

for (const [base, floors] of Object.entries(innerFloors)) {
  const rooms = floors.flat().filter((room) => room !== '.' && isFolder(`${base}/${room}`))
  if (base === 'operator') continue
  test(`the page names the rooms inside ${base}, the lowest first`, () => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${base}\` |`)) ?? ''
    assert.deepEqual(
      named(row).filter((name) => rooms.includes(name)),
      rooms,
    )
  })
}
