import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { artefact, compileToken } from './compile-token.ts'

test('token.json is what the compiler makes of token.sol, byte for byte', () => {
  assert.equal(readFileSync(artefact, 'utf8'), compileToken())
})
