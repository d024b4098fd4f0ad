import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, it, type TestContext, test } from 'node:test'
import { lensHash } from '../../../src/views/lens-hash.ts'
import { repository } from '../../support/repository.ts'
import { hasRust } from '../../support/rust.ts'
import { openTestTerminal } from '../support/test-terminal.ts'
import { trial, usdc } from '../trial/support/trial-room.ts'

const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' }

/** Makes and builds a lens; returns what `lens build` prints, and what a View of it has of the samples. */
async function make(t: TestContext, language: string): Promise<Record<string, unknown>> {
  const { run, cwd } = await openTestTerminal(t)
  const made = await run(['lens', 'new', 'counted', '--language', language])
  assert.deepEqual([made.exitCode, made.stderr], [0, ''])
  symlinkSync(join(repository, 'node_modules'), join(cwd, 'counted', 'node_modules'))
  const built = await run(['lens', 'build', 'counted', '--json'], { env })
  assert.equal(built.exitCode, 0, built.stderr)
  const { path } = JSON.parse(built.stdout)
  assert.equal(path, join(cwd, 'counted', 'counted.wasm'))
  const args = JSON.stringify({ address: usdc.toUpperCase().replace('0X', '0x') })
  const doctor = await run(['lens', 'doctor', 'counted/counted.wasm', '--args', args, '--json'])
  const { checks } = JSON.parse(doctor.stdout)
  const ills = checks.filter(({ outcome }: { outcome: string }) => outcome !== 'passed')
  assert.deepEqual([doctor.exitCode, ills], [0, []])
  const { rows, findings } = await trial({
    query: 'Log { address topics }',
    sdl: 'type Counted { address: String topicCount: Int }',
    lenses: [{ wasm: readFileSync(path), args }],
  })
  return { rows: rows.map(({ address, topicCount }) => [address, topicCount]), findings }
}

const expected = { rows: Array.from({ length: 5 }, () => [usdc, 3]), findings: [] }

describe('lens new', () => {
  it('makes a lens in AssemblyScript that builds, passes lens doctor and makes rows', async (t) => {
    assert.deepEqual(await make(t, 'assemblyscript'), expected)
  })

  it('makes a lens in Rust that builds, passes lens doctor and makes rows', {
    skip: hasRust() ? false : 'NOT RUN: Rust is not here, or cannot make WebAssembly',
  }, async (t) => {
    assert.deepEqual(await make(t, 'rust'), expected)
  })

  it('refuses a folder with something in it, a name that leads elsewhere, and other languages', async (t) => {
    const { run, cwd } = await openTestTerminal(t)
    mkdirSync(join(cwd, 'taken'))
    writeFileSync(join(cwd, 'taken', 'file'), '')
    const taken = await run(['lens', 'new', 'taken'])
    assert.deepEqual(
      [taken.exitCode, taken.stderr.split('\n')[0]],
      [1, `error: ${join(cwd, 'taken')} exists already`],
    )
    assert.deepEqual(readdirSync(cwd), ['taken'])
    writeFileSync(join(cwd, 'file'), '')
    assert.match((await run(['lens', 'new', 'file'])).stderr, /file exists already\n/)
    assert.deepEqual(readdirSync(cwd), ['file', 'taken'])
    for (const argv of [['../up'], ['Big'], ['fine', '--language', 'go']])
      assert.equal((await run(['lens', 'new', ...argv])).exitCode, 2)
    const long = await run(['lens', 'new', 'x'.repeat(81)])
    assert.match(long.stderr, /^error: "x{80}" cannot be the name of a lens\n/)
  })
})

/** A `cargo` that answers this of the project, and whose build leaves the module of another lens. */
function writeCargo(folder: string, metadata: string): void {
  const built = join(folder, 'target', 'wasm32-unknown-unknown', 'release')
  const script = `#!/bin/sh
if [ "$1" = metadata ]; then
  cat <<'END'
${metadata}
END
else
  mkdir -p '${built}' && cp '${join(repository, 'src/lenses/filter.wasm')}' '${built}/my_lens.wasm'
fi
`
  writeFileSync(join(folder, 'cargo'), script, { mode: 0o755 })
}

describe('lens build of Rust', () => {
  const packageOf = (folder: string, ...crates: readonly (readonly [string, string])[]) => ({
    manifest_path: join(folder, 'Cargo.toml'),
    targets: crates.map(([name, type]) => ({ name, crate_types: [type] })),
  })

  it('takes the library of the type cdylib of the project itself', async (t) => {
    const { run, cwd } = await openTestTerminal(t)
    mkdirSync(join(cwd, 'mine'))
    writeFileSync(join(cwd, 'mine', 'Cargo.toml'), '')
    const packages = [
      packageOf(join(cwd, 'other'), ['other', 'cdylib']),
      packageOf(join(cwd, 'mine'), ['tool', 'bin'], ['my-lens', 'cdylib']),
    ]
    writeCargo(cwd, JSON.stringify({ target_directory: join(cwd, 'target'), packages }))
    const path = `${cwd}:${process.env['PATH']}`
    const { exitCode, stdout, stderr } = await run(['lens', 'build', 'mine'], {
      env: { PATH: path },
    })
    assert.equal(exitCode, 0, stderr)
    const file = join(cwd, 'mine', 'mine.wasm')
    const wasm = readFileSync(file)
    assert.equal(stdout, `${file}: ${wasm.length} bytes, hash ${lensHash(wasm)}\n`)
  })

  it('says where a project has no such library, and where cargo says nothing of it', async (t) => {
    const { run, cwd } = await openTestTerminal(t)
    writeFileSync(join(cwd, 'Cargo.toml'), '')
    const path = `${cwd}:${process.env['PATH']}`
    for (const [metadata, message] of [
      [
        JSON.stringify({
          target_directory: cwd,
          packages: [packageOf(cwd, ['tool', 'bin']), packageOf('/other', ['a', 'cdylib'])],
        }),
        `${join(cwd, 'Cargo.toml')} has no library of the type cdylib`,
      ],
      ['{}', 'cargo metadata says nothing of the project'],
    ] as const) {
      writeCargo(cwd, metadata)
      const { exitCode, stderr } = await run(['lens', 'build'], { env: { PATH: path } })
      assert.deepEqual([exitCode, stderr.split('\n')[0]], [1, `error: ${message}`])
    }
  })
})

describe('lens build', () => {
  it('says what the compiler says', async (t) => {
    const { run, cwd } = await openTestTerminal(t)
    await run(['lens', 'new', 'broken'])
    writeFileSync(
      join(cwd, 'broken', 'assembly', 'lens.ts'),
      'export function transform(): Nope {}',
    )
    const { exitCode, stderr } = await run(['lens', 'build', 'broken'], { env })
    assert.equal(exitCode, 1)
    assert.match(stderr, /Cannot find name 'Nope'/)
  })

  it('refuses what compiles and is no lens', async (t) => {
    const { run, cwd } = await openTestTerminal(t)
    await run(['lens', 'new', 'other'])
    writeFileSync(
      join(cwd, 'other', 'assembly', 'lens.ts'),
      'export function run(): i32 { return 1 }',
    )
    const { exitCode, stderr } = await run(['lens', 'build', 'other'], { env })
    assert.equal(exitCode, 1)
    assert.match(stderr, /does not import lens\.next/)
  })

  it('says how to get a compiler that is not there', async (t) => {
    const { run, cwd } = await openTestTerminal(t)
    await run(['lens', 'new', 'rusty', '--language', 'rust'])
    const { exitCode, stderr } = await run(['lens', 'build', 'rusty'], { env: { PATH: cwd } })
    assert.deepEqual(
      [exitCode, stderr],
      [1, 'error: cargo is not installed\nWhat to do: Install Rust: https://rustup.rs\n'],
    )
    assert.equal((await run(['lens', 'build'], { env })).exitCode, 1)
  })
})

test('a new lens depends on the compiler that the lenses which ship are made with', async (t) => {
  const { run, cwd } = await openTestTerminal(t)
  await run(['lens', 'new', 'mine'])
  const versionIn = (path: string): string =>
    JSON.parse(readFileSync(path, 'utf8')).devDependencies.assemblyscript
  assert.equal(
    versionIn(join(cwd, 'mine', 'package.json')),
    versionIn(join(repository, 'package.json')),
  )
})
