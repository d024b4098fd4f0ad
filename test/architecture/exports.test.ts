/** What files offer each other: nothing that nobody wants, and nothing in a circle. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import ts from 'typescript'
import { readSourceFiles, type SourceFile } from '../support/source-files.ts'
import { published } from './published.ts'

const files = readSourceFiles('src', 'operator')
const tests = readSourceFiles('test')
const images = readSourceFiles('images')

test('no file imports itself by a detour, not even for types', () => {
  assert.deepEqual(findCycles([...files, ...tests]), [])
})

test('everything that is exported is imported somewhere, be it by a test alone', () => {
  const imports = [...files, ...tests, ...images].flatMap((file) => file.imports)
  const used = new Set(
    imports.flatMap(({ target, names }) => names.map((name) => `${target} ${name}`)),
  )
  const unused = [...files, ...tests]
    .filter(({ path }) => !published.includes(path))
    .flatMap((file) => exportsOf(file).map((name) => `${file.path} ${name}`))
    .filter((name) => !used.has(name) && !used.has(`${name.split(' ')[0]} *`))
  assert.deepEqual(unused, [])
})

test('a name that is exported means one thing', () => {
  const places = Map.groupBy(
    files.flatMap((file) => exportsOf(file).map((name) => ({ name, path: file.path }))),
    ({ name }) => name,
  )
  const doubled = [...places].filter(([, found]) => found.length > 1)
  assert.deepEqual(
    doubled.map(([name, found]) => `${name}: ${found.map(({ path }) => path).join(', ')}`),
    [],
  )
})

/** Names that a file exports. */
function exportsOf({ path, text }: SourceFile): string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  return tree.statements.filter(isExported).flatMap((statement) => {
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText())
    }
    const { name } = statement as ts.DeclarationStatement
    return name === undefined ? [] : [name.getText()]
  })
}

function isExported(statement: ts.Statement): boolean {
  if (!ts.canHaveModifiers(statement)) return false
  return (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
}

/** Cycles of imports, each reported once. */
function findCycles(sources: readonly SourceFile[]): string[] {
  const edges = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ own }) => own).map(({ target }) => target),
    ]),
  )
  const done = new Set<string>()
  const trail: string[] = []
  const cycles: string[] = []
  const visit = (path: string): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
    if (done.has(path)) return
    done.add(path)
    trail.push(path)
    for (const next of edges.get(path) ?? []) visit(next)
    trail.pop()
  }
  for (const path of edges.keys()) visit(path)
  return cycles
}
