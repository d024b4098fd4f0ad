/** Which changes of a source are tried, and what is left alone because no test could see it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findPlaces } from './find-places.ts'
import { applyMutant } from './place.ts'

/** The texts that a source becomes. */
function changes(source: string): string[] {
  const mutants = findPlaces('src/x.ts', source).flatMap((place) => place.mutants)
  return mutants.map((mutant) => applyMutant(source, mutant))
}

const tried: Readonly<Record<string, readonly [source: string, ...expected: string[]]>> = {
  'a comparison moves its bound, turns round, and holds always or never': [
    'x = f(a < b)',
    'x = f(a <= b)',
    'x = f(a >= b)',
    'x = f(true)',
    'x = f(false)',
  ],
  'a condition holds always, never, or the other way round': [
    'const x = a ? b : c',
    'const x = false ? b : c',
    'const x = true ? b : c',
    'const x = !(a) ? b : c',
  ],
  'a loop does not begin': ['while (a) b = c', 'while (false) b = c'],
  '“and” becomes “or” with its operands kept together': [
    'x = f(a && b && c)',
    'x = f((a && b) || c)',
    'x = f((a || b) && c)',
  ],
  'a fallback is used the other way round, and is missing': [
    'x = f(a ?? b)',
    'x = f(a && b)',
    'x = f(a)',
  ],
  'arithmetic turns round': ['x = f(a * (b + c))', 'x = f(a / (b + c))', 'x = f(a * (b - c))'],
  'a number that is compared, computed with or passed is one more': [
    'x = f(a[0], 7n)',
    'x = f(a[1], 7n)',
    'x = f(a[0], 8n)',
  ],
  'a boolean turns round': ['const x = { isOpen: true }', 'const x = { isOpen: false }'],
  'a negation, a sign and a step turn round': [
    'x = f(!a, -b, c++)',
    'x = f(a, -b, c++)',
    'x = f(!a, b, c++)',
    'x = f(!a, -b, c--)',
  ],
  'a filter lets everything through': ['x = f(a.filter(b))', 'x = f(a)'],
  '“some” becomes “every”': ['x = f(a.some(b))', 'x = f(a.every(b))'],
  'a call for its effect is left out': ['a()', ';'],
  'an early end is left out': [
    'const f = () => { for (const x of y) { x.z(); return } }',
    'const f = () => {}',
    'const f = () => { for (const x of y) { ; return } }',
    'const f = () => { for (const x of y) { x.z(); ; } }',
  ],
}

describe('a change is tried', () => {
  for (const [name, [source, ...expected]] of Object.entries(tried))
    test(name, () => assert.deepEqual(changes(source), expected))
})

const unseen: Readonly<Record<string, string>> = {
  'a type': 'interface A { readonly isOpen: true; readonly size: 1 | 2 }',
  'a line of the log': "parts.log.warn({ height: height + 1, isOpen: a && b }, 'block sealed')",
  'a condition of such lines alone': "if (a < b) log.warn('late')\nelse { log.info('in time') }",
  'an invariant': "invariant(a < b, 'sorted')",
  'the room that a writer begins with': 'const out = createByteWriter(64 + a * b)',
  'the declaration of a metric':
    "const x = new Gauge({ name: 'a', help: a + b, buckets: [a + 1] })",
  'a name for a number': 'const timeoutMs = 30 * 1000',
  'a setting of a number': 'const x = { timeoutMs: 30 * 1000 }',
  'a number made of such names': 'const second = 1_000\nconst x = { timeoutMs: (2 + 3) * second }',
  'a text': "const x = 'a'",
}

describe('nothing is tried at', () => {
  for (const [name, source] of Object.entries(unseen))
    test(name, () => assert.deepEqual(changes(source), []))
})
