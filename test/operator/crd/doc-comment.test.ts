import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDocComment } from '../../../operator/crd/doc-comment.ts'

test('a comment of one line is its text', () => {
  assert.deepEqual(parseDocComment('/** The chain. */'), { text: 'The chain.', tags: [] })
})

test('a comment of one line may be a tag', () => {
  const tags = [{ name: 'default', value: '7' }]
  assert.deepEqual(parseDocComment('/** @default 7 */'), { text: '', tags })
})

test('lines of a paragraph are joined, paragraphs stay apart', () => {
  const comment = '/**\n * One\n * thought.\n *\n * Another.\n */'
  assert.equal(parseDocComment(comment).text, 'One thought.\n\nAnother.')
})

test('a tag begins a line and goes on until the next one, whatever is in it', () => {
  const comment = [
    '/**',
    ' * A port.',
    ' * @default 8545',
    " * @rule self.matches(r'^[^@{}]\\d$') &&",
    ' *   self != 1',
    ' * @message not me@here',
    ' */',
  ].join('\n')
  assert.deepEqual(parseDocComment(comment), {
    text: 'A port.',
    tags: [
      { name: 'default', value: '8545' },
      { name: 'rule', value: "self.matches(r'^[^@{}]\\d$') && self != 1" },
      { name: 'message', value: 'not me@here' },
    ],
  })
})

test('a tag may begin after its name, and goes on after a blank line', () => {
  const comment = ['/**', ' * @rule', ' * a &&', ' *', ' * b', ' *', ' * @preserveUnknown', ' */']
  assert.deepEqual(parseDocComment(comment.join('\n')), {
    text: '',
    tags: [
      { name: 'rule', value: 'a && b' },
      { name: 'preserveUnknown', value: '' },
    ],
  })
})
