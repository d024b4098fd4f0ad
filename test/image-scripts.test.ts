/** The scripts that build, publish and try images, with stand-ins for the tools that they call. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { repository } from './support/repository.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'viewmesh-scripts-'))
  writeFileSync(join(folder, 'calls'), '')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Puts programs before all others: each notes how it was called, and does what its text says. */
function standIns(programs: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(programs)) {
    const note = `echo "${name} $*" >>'${folder}/calls'`
    writeFileSync(join(folder, name), `#!/bin/sh\n${note}\n${text}\n`, { mode: 0o755 })
  }
}

function run(script: string, ...args: readonly string[]): { code: number | null; stderr: string } {
  const path = `${folder}${delimiter}${process.env['PATH']}`
  const { status, stderr } = spawnSync(join(repository, script), args, {
    env: { ...process.env, PATH: path },
    encoding: 'utf8',
  })
  return { code: status, stderr }
}

const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
const programsCalled = (): string[] => calls().map((call) => `${call.split(' ')[0]}`)

test('images are built with buildah where it is there, or with what is asked for', () => {
  standIns({ buildah: '', docker: '' })
  assert.equal(run('images/build', 'generator').code, 0)
  assert.equal(run('images/build', '--with', 'docker', 'generator').code, 0)
  assert.deepEqual(programsCalled(), ['buildah', 'docker'])
  const { code, stderr } = run('images/build', '--with', 'podman', 'generator')
  assert.deepEqual([code, stderr], [1, '--with is buildah or docker.\n'])
})

for (const failing of ['docker', 'npx']) {
  test(`no cluster is made where images cannot be built, here for want of ${failing}`, () => {
    standIns({ docker: '', npx: '', kind: '', npm: '', [failing]: 'exit 3' })
    assert.equal(run('test/cluster/kind-versions', 'v1.34.0').code, 3)
    assert.ok(programsCalled().includes(failing))
    assert.deepEqual(
      calls().filter((call) => call.startsWith('kind create')),
      [],
    )
  })
}
