import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { type ListedLens, parseViewYaml, viewYaml } from '../../../src/toolkit/project/view-yaml.ts'
import { viewLimits } from '../../../src/views/view.ts'

const first = '  - label: a\n    file: lenses/a.wasm\n'

/** What the file is refused with. */
function refusal(text: string): string {
  try {
    parseViewYaml(text, 'view.yaml')
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'TOOLKIT_VIEW_UNREADABLE')
    return error.message
  }
  return assert.fail(`accepted: ${text}`)
}

test('view.yaml has the lenses that were written into it, arguments included', () => {
  const plain = { noNullPrototype: true }
  const args = fc.option(fc.dictionary(fc.string({ minLength: 1 }), fc.string(), plain))
  const label = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)
  const lens = fc.record({ label, file: fc.string({ minLength: 1 }), args }, plain)
  const lenses = fc.uniqueArray(lens, { selector: (each) => each.label, maxLength: 5 })
  fc.assert(
    fc.property(lenses, (listed: readonly ListedLens[]) => {
      assert.deepEqual(parseViewYaml(viewYaml(listed), 'view.yaml'), listed)
    }),
  )
})

test('view.yaml is written without folded lines, and read without arguments where they are empty', () => {
  const args = { abi: 'word '.repeat(50) }
  const [lens] = [{ label: 'a', file: 'lenses/a.wasm', args }]
  assert.match(viewYaml(lens === undefined ? [] : [lens]), /\n {6}abi: "(?:word ){50}"\n$/)
  assert.match(viewYaml([{ label: 'a', file: 'lenses/a.wasm', args: null }]), /\.wasm\n$/)
  for (const empty of ['', '    args:\n', '    args: null\n', '    args: {}\n']) {
    const [read] = parseViewYaml(`lenses:\n${first}${empty}`, 'view.yaml')
    assert.deepEqual(read?.args, empty.includes('{}') ? {} : null, empty)
  }
})

test('view.yaml without lenses is a View without lenses', () => {
  for (const text of ['', '# nothing yet\n', 'lenses:\n', 'lenses: []\n', '{}\n'])
    assert.deepEqual(parseViewYaml(text, 'view.yaml'), [], text)
})

test('view.yaml has as many lenses as a View may have, and no more', () => {
  const listing = (count: number): string =>
    viewYaml(
      Array.from({ length: count }, (_, index) => ({ label: `a${index}`, file: 'x', args: null })),
    )
  assert.equal(parseViewYaml(listing(viewLimits.lenses), 'view.yaml').length, viewLimits.lenses)
  assert.equal(refusal(listing(257)), 'view.yaml has 257 lenses, and may have 256')
})

test('view.yaml of a hundred thousand tokens is parsed, and none of more', () => {
  const comments = (count: number): string => '#\n'.repeat(count)
  // Each line is two: the comment and its end.
  assert.deepEqual(parseViewYaml(comments(50_000), 'view.yaml'), [])
  assert.equal(refusal(`${comments(50_000)}#`), 'view.yaml is no YAML')
  assert.equal(refusal('['.repeat(100_001)), 'view.yaml is no YAML')
})

describe('view.yaml is refused', () => {
  const refused: readonly (readonly [what: string, text: string, message: string])[] = [
    ['that is no YAML', 'lenses: [', 'is no YAML'],
    ['that is a list', '- a\n', 'is not a mapping where it is'],
    ['that is a text', 'a\n', 'is not a mapping where it is'],
    ['with a key nobody knows', 'lens: []\n', 'has lens in it, which is not known'],
    ['whose lenses are a mapping', 'lenses: {}\n', 'has lenses that are not a list'],
    ['whose lens is a list', 'lenses:\n  - []\n', 'is not a mapping where lens 1 is'],
    ['whose lens is empty', `lenses:\n${first}  -\n`, 'is not a mapping where lens 2 is'],
    [
      'with a key of a lens nobody knows',
      `lenses:\n${first}    path: x\n`,
      'has path in lens 1, which is not known',
    ],
    ['without a label', 'lenses:\n  - file: x\n', 'has a label of lens 1 that is none'],
    [
      'with a label that leads elsewhere',
      'lenses:\n  - label: ../a\n    file: x\n',
      'has a label of lens 1 that is none',
    ],
    ['without a file', 'lenses:\n  - label: a\n', 'names no file of lens 1'],
    [
      'with a file whose name has lines',
      'lenses:\n  - label: a\n    file: "x\\nWhat to do: y"\n',
      'has a file of lens 1 that is no path',
    ],
    [
      'with a key of several lines, which is shown on one',
      '"a\\nWhat to do: b": 1\n',
      'has a What to do: b in it, which is not known',
    ],
    [
      'with a key of more than 80 characters, which is cut',
      `${'k'.repeat(81)}: 1\n`,
      `has ${'k'.repeat(80)}… in it, which is not known`,
    ],
    [
      'with a label that ends with a dot',
      'lenses:\n  - label: a.\n    file: x\n',
      'has a label of lens 1 that is none',
    ],
    [
      'whose second lens has a label of one before it',
      `lenses:\n  - label: b\n    file: x\n${first}${first}`,
      'has two lenses with the label a',
    ],
    ['with an empty file', 'lenses:\n  - label: a\n    file: ""\n', 'names no file of lens 1'],
    ['with a label twice', `lenses:\n${first}${first}`, 'has two lenses with the label a'],
    [
      'whose arguments are a list',
      `lenses:\n${first}    args: [1]\n`,
      'is not a mapping where args of lens 1 is',
    ],
    [
      'with an argument that is a number',
      `lenses:\n${first}    args:\n      name: x\n      decimals: 18\n`,
      'has args of lens 1 whose value decimals is not a string; write it in quotes',
    ],
  ]
  for (const [what, text, message] of refused)
    it(what, () => assert.ok(refusal(text).startsWith(`view.yaml ${message}`), refusal(text)))
})
