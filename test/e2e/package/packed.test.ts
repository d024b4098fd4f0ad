/** The package as an application gets it: packed, unpacked and imported, without a network. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { blocksIn } from '../../docs/support/page.ts'
import { alice, documentOf } from '../../support/chain/answered-documents.ts'
import { repository } from '../../support/repository.ts'
import { packRepository } from './packed-repository.ts'

const top = mkdtempSync(join(tmpdir(), 'viewmesh-package-'))
const app = join(top, 'app')
const installed = join(app, 'node_modules/viewmesh')
const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
const answer = { data: { Log: [documentOf('log-')] } }

/** Runs Node in the application; returns its output. */
function node(args: readonly string[], input = ''): string {
  return execFileSync(process.execPath, args, { cwd: app, input, encoding: 'utf8' })
}

before(() => {
  const archive = packRepository(join(top, 'source'))
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', archive, '-C', installed, '--strip-components=1'])
  writeFileSync(join(app, 'package.json'), '{"type":"module"}')
})
after(() => rmSync(top, { recursive: true }))

/** Puts installed packages beside the unpacked one. */
function install(names: readonly string[]): void {
  for (const name of names) {
    const place = join(app, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(repository, 'node_modules', name), place)
  }
}

test('it has the build with the launcher, and neither sources nor tests', () => {
  assert.deepEqual(readdirSync(installed).toSorted(), [
    'LICENSE',
    'README.md',
    'dist',
    'operator',
    'package.json',
    'src',
  ])
  assert.deepEqual(readdirSync(join(installed, 'src')).toSorted(), ['launch.js', 'viewmesh.js'])
  assert.deepEqual(readdirSync(join(installed, 'operator/plugin')), ['kubectl-viewmesh.js'])
})

test('viewmesh/verify is imported, and needs no package but the curves and hashes', () => {
  install(['@noble/curves', '@noble/hashes'])
  writeFileSync(
    join(app, 'check.js'),
    `import { verifyAnswer, verifyDocument } from 'viewmesh/verify'
    const answer = ${JSON.stringify(answer)}
    const acceptance = { identities: ['${alice.identity}'] }
    const [{ path, verdict }] = verifyAnswer(answer, acceptance)
    const changed = verifyDocument({ ...answer.data.Log[0], logIndex: 9 }, acceptance)
    console.log(path.join('.'), verdict.proves, changed.failure.code)`,
  )
  assert.equal(node(['check.js']), 'data.Log.0 document cid-wrong\n')
})

test('the program in docs/proofs.md writes what the page shows', () => {
  const blocks = blocksIn(readFileSync(join(repository, 'docs/proofs.md'), 'utf8'))
  const answered = blocks.find(({ language }) => language === 'json')
  const at = blocks.findIndex(({ language }) => language === 'js')
  writeFileSync(join(app, 'answer.json'), answered?.text ?? '')
  writeFileSync(join(app, 'page.js'), blocks[at]?.text ?? '')
  assert.equal(node(['page.js']), blocks[at + 1]?.text)
})

test('its types compile strictly without those of Node', () => {
  writeFileSync(
    join(app, 'check.ts'),
    `import { type Verdict, verifyDocument } from 'viewmesh/verify'
    const verdict: Verdict = verifyDocument(null, { identities: ['ab'], minimum: 1 })
    export const signers: readonly string[] = verdict.proves === 'nothing' ? [] : verdict.signers
    // @ts-expect-error: without a proof there are no signers
    export const nobody: unknown = verdict.proves === 'nothing' && verdict.signers`,
  )
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const flags = '--strict --noEmit --module nodenext --target es2022'.split(' ')
  assert.equal(node([compiler, ...flags, 'check.ts']), '')
})

test('its command verifies', () => {
  const others = Object.keys(manifest.dependencies).filter((name) => !name.startsWith('@noble/'))
  install(others)
  const args = [
    'node_modules/viewmesh/src/viewmesh.js',
    'verify',
    '-',
    '--identity',
    alice.identity,
  ]
  assert.match(node(args, JSON.stringify(answer)), /^data\.Log\[0\]: proven: log-0x/)
})

test('its plugin for kubectl runs', () => {
  const help = node(['node_modules/viewmesh/operator/plugin/kubectl-viewmesh.js', '--help'])
  assert.match(help, /^Usage: kubectl viewmesh /)
})

test('nothing else of it is to be imported', () => {
  const other = "import('viewmesh/dist/src/store/store.js').catch(({ code }) => console.log(code))"
  assert.equal(node(['--eval', other]), 'ERR_PACKAGE_PATH_NOT_EXPORTED\n')
})
