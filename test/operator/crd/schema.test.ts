/** What becomes of types and tags, beside what our own API has of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import ts from 'typescript'
import { commentOf, type Declarations } from '../../../operator/crd/declarations.ts'
import { type Schema, schemaOf } from '../../../operator/crd/schema.ts'

/** The schema of a type that this source declares. */
function schemaIn(source: string, name: string): Schema {
  const tree = ts.createSourceFile('x.ts', source, ts.ScriptTarget.ESNext, true)
  const declarations: Declarations = new Map(
    tree.statements.flatMap((node) =>
      ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
        ? [[node.name.text, { node, comment: commentOf(node) }] as const]
        : [],
    ),
  )
  return schemaOf(name, declarations)
}

const base = `
/**
 * A base.
 * @rule self.a != ''
 * @message a must not be empty
 */
interface Base {
  /** One. */
  readonly a: string
}`

test('an interface has the fields and rules of its bases, and its own rules after them', () => {
  const first = { rule: "self.a != ''", message: 'a must not be empty' }
  const fields = { a: { description: 'One.', type: 'string' } }
  const derived = `${base}\n/** More. */\ninterface Derived extends Base {}`
  assert.deepEqual(schemaIn(derived, 'Derived'), {
    description: 'More.',
    type: 'object',
    required: ['a'],
    properties: fields,
    'x-kubernetes-validations': [first],
  })
  const own = '/**\n * More.\n * @rule true\n * @message never\n * @fieldPath .a\n */'
  assert.deepEqual(
    schemaIn(`${base}\n${own}\ninterface Derived extends Base {}`, 'Derived')[
      'x-kubernetes-validations'
    ],
    [first, { rule: 'true', message: 'never', fieldPath: '.a' }],
  )
})

test('a field that becomes optional, or gets a default, is no longer required', () => {
  const requiredWith = (field: string): unknown =>
    schemaIn(`${base}\n/** More. */\ninterface Derived extends Base {\n${field}\n}`, 'Derived')
      .required
  assert.equal(requiredWith('/** One. */\nreadonly a?: string'), undefined)
  assert.equal(requiredWith('/**\n * One.\n * @default "x"\n */\nreadonly a: string'), undefined)
  assert.deepEqual(requiredWith('/** Two. */\nreadonly b: string'), ['a', 'b'])
})

test('a default that is a scalar is part of the description, an object is not', () => {
  const describedWith = (value: string): string | undefined =>
    schemaIn(
      `/** A. */\ninterface A {\n/**\n * One.\n * @default ${value}\n */\nreadonly a: string\n}`,
      'A',
    ).properties?.['a']?.description
  assert.equal(describedWith('7'), 'One. Default: 7.')
  assert.equal(describedWith('{"b": 1}'), 'One.')
})

test('a rule without a message for the user is refused', () => {
  const schemaWith = (...tags: readonly string[]): Schema =>
    schemaIn(`/**\n * A.\n * ${tags.join('\n * ')}\n */\ninterface A {}`, 'A')
  const whole = ['@rule true', '@message never']
  assert.throws(() => schemaWith(...whole, '@rule false'), /A has a rule without a message: false/)
  assert.throws(() => schemaWith(...whole.toReversed()), /A has @message before any @rule/)
})
