import assert from 'node:assert/strict'
import { test } from 'node:test'
import ts from 'typescript'
import { commentOf } from '../../../operator/crd/declarations.ts'

/** The text of the comment of the first statement. */
function textOf(source: string): string {
  const tree = ts.createSourceFile('x.ts', source, ts.ScriptTarget.ESNext, true)
  const [first] = tree.statements
  assert.ok(first)
  return commentOf(first).text
}

test('the comment of a declaration is the last documenting one before it', () => {
  const declaration = 'interface A {}'
  assert.equal(textOf(`/** Of the file. */\n/** Of it. */\n${declaration}`), 'Of it.')
  assert.equal(textOf(`/** Of it. */\n// a remark\n/* another */\n${declaration}`), 'Of it.')
  assert.equal(textOf(`// a remark\n${declaration}`), '')
})
