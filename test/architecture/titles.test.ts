/** Titles of tests: what fails is read in a list, so each fits on a line. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import ts from 'typescript'
import { readSourceFiles, type SourceFile } from '../support/source-files.ts'

const maxCharacters = 90
const suites = readSourceFiles('test').filter(({ path }) => path.endsWith('.test.ts'))
const titled: ReadonlySet<string> = new Set(['test', 'describe'])

test(`no title of a test has more than ${maxCharacters} characters`, () => {
  const titles = suites.flatMap((file) => titlesOf(file).map((title) => ({ file, title })))
  assert.ok(titles.length > 1_000)
  const long = titles.filter(({ title }) => title.length > maxCharacters)
  assert.deepEqual(
    long.map(({ file, title }) => `${file.path}: ${title}`),
    [],
  )
})

/** The titles in a file; of a template the text between its values. */
function titlesOf({ path, text }: SourceFile): string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const title = ts.isCallExpression(node) ? titleOf(node) : null
    if (title !== null) found.push(title)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function titleOf({ expression, arguments: [title] }: ts.CallExpression): string | null {
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression
  if (title === undefined || !titled.has(name.getText())) return null
  if (ts.isStringLiteralLike(title)) return title.text
  if (!ts.isTemplateExpression(title)) return null
  return [title.head, ...title.templateSpans.map(({ literal }) => literal)]
    .map(({ text }) => text)
    .join('')
}
