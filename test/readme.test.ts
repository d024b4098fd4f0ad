import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { errorCodes } from '../src/errors.ts'
import { readme, readmeSections, readSection } from './support/readme-sections.ts'
import { readSourceFiles } from './support/source-files.ts'

const text = readFileSync(readme, 'utf8')
const contributing = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8')
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const sources = readSourceFiles('src', 'operator').filter(({ path }) => path !== 'src/errors.ts')

for (const [name, section] of Object.entries(readmeSections())) {
  /** When this fails, `npx node test/support/readme-sections.ts` writes the tables anew. */
  test(`README's table of ${name} is what the code says`, () => {
    const shown = readSection(text, name).split('\n')
    const due = section.split('\n')
    assert.deepEqual(
      {
        missing: due.filter((row) => !shown.includes(row)),
        stale: shown.filter((row) => !due.includes(row)),
      },
      { missing: [], stale: [] },
    )
    assert.deepEqual(shown, due)
  })
}

test('every error code is used somewhere', () => {
  const unused = Object.keys(errorCodes).filter(
    (code) => !sources.some((source) => source.text.includes(`'${code}'`)),
  )
  assert.deepEqual(unused, [])
})

test('every error code that is used has its meaning in the table', () => {
  const used = sources.flatMap((source) =>
    [...source.text.matchAll(/new ServiceError\(\s*'([A-Z0-9_]+)'/g)].map(([, code]) => code ?? ''),
  )
  assert.deepEqual(
    used.filter((code) => !(code in errorCodes)),
    [],
  )
})

test('the performance table has every figure of the bench, and a cause for every goal that is missed', () => {
  const rows = readSection(text, 'performance').split('\n')
  const names = readSourceFiles('test/bench').flatMap((file) =>
    [...file.text.matchAll(/^ +name: (['"`])(.+?)(?:\$\{|\1,)/gm)].map(([, , name]) => name ?? ''),
  )
  assert.ok(names.length > 0)
  const isShown = (name: string): boolean => rows.some((row) => row.startsWith(`| ${name}`))
  assert.deepEqual(
    names.filter((name) => !isShown(name)),
    [],
  )
  const missed = rows.filter((row) => row.includes('| MISSED |')).map((row) => row.split(' | ')[0])
  assert.deepEqual(
    missed.filter((figure) => !rows.some((row) => row.startsWith(`- ${figure?.slice(2)}: `))),
    [],
  )
})

test('the commands that README names exist', () => {
  const commands = [
    ...`${text}\n${contributing}`.matchAll(/npm (?:run ([a-z:]+)|(start|test)\b)/g),
  ].map(([, script, short]) => script ?? short ?? '')
  assert.deepEqual(
    commands.filter((name) => !(name in manifest.scripts)),
    [],
  )
})

test('CONTRIBUTING gives the reason of every dependency', () => {
  const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
  const named = new Set([...contributing.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name))
  assert.deepEqual(
    dependencies.filter((name) => !named.has(name)),
    [],
  )
})
