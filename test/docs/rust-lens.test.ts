/** docs/views/writing-lenses.md: the lens in Rust builds and is fit as the page shows. */
import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { hasRust } from '../support/rust.ts'
import { testDirectory } from '../support/test-store.ts'
import { blocksOf } from './support/page.ts'
import { runShell } from './support/run-shell.ts'

const page = 'docs/views/writing-lenses.md'

test('the lens in Rust of docs/views/writing-lenses.md builds as the page shows', {
  skip: hasRust() ? false : 'NOT RUN: Rust is not here, or cannot make WebAssembly',
}, async (t) => {
  const [commands, shown] = blocksOf(page).filter(
    ({ marker }) => marker === 'run: test/docs/rust-lens.test.ts',
  )
  const { RUSTUP_HOME = join(homedir(), '.rustup'), CARGO_HOME = join(homedir(), '.cargo') } =
    process.env
  const printed = await runShell(commands?.text ?? '', {
    cwd: testDirectory(t),
    env: { RUSTUP_HOME, CARGO_HOME },
  })
  assert.equal(printed, shown?.text)
})
