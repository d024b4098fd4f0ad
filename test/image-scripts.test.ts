/** The scripts that build, publish and try images, with stand-ins for the tools that they call. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { parse } from 'yaml'
import { repository } from './support/repository.ts'

const source = 'https://git.example.org/viewmesh/viewmesh'
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
    env: { ...process.env, PATH: path, OUT: folder },
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

test('where no target is named, the image that comes of it is one that is published', () => {
  const dockerfile = readFileSync(join(repository, 'images/Dockerfile'), 'utf8')
  const stages = [...dockerfile.matchAll(/^FROM .* AS (\S+)$/gm)].map(([, name]) => name)
  assert.equal(stages.at(-1), 'host')
})

for (const failing of ['docker', 'npx']) {
  test(`no cluster is made where images cannot be built, here for want of ${failing}`, () => {
    standIns({ docker: '', npx: '', kind: '', npm: '', [failing]: 'exit 3' })
    assert.equal(run('test/e2e/cluster/kind-versions', 'v1.34.0').code, 3)
    assert.ok(programsCalled().includes(failing))
    assert.deepEqual(
      calls().filter((call) => call.startsWith('kind create')),
      [],
    )
  })
}

const helm = { helm: `case $1 in push) echo "Digest: sha256:1" >&2 ;; esac` }

test('charts and the file for kubectl are signed as well, and name images by what they are', () => {
  standIns({
    git: '',
    buildah: 'case "$*" in *--digestfile*) echo sha256:0 >"$3" ;; esac',
    syft: '',
    cosign: '',
    helm: `case $1 in package) cp -r "$2" '${folder}' ;; esac\n${helm.helm}`,
  })
  const prefix = 'registry.example.org/viewmesh/viewmesh-'
  const { code, stderr } = run('images/publish', prefix, '0.1.0', source)
  assert.deepEqual([code, stderr], [0, ''])
  const images = ['generator', 'host', 'operator', 'toolkit'].map(
    (name) => `${prefix}${name}@sha256:0`,
  )
  const signed = ['operator', 'generator', 'host'].map(
    (chart) => `registry.example.org/viewmesh/charts/${chart}@sha256:1`,
  )
  assert.deepEqual(
    calls().filter((call) => /^cosign sign/.test(call)),
    [
      ...[...images, ...signed].map((name) => `cosign sign --yes ${name}`),
      `cosign sign-blob --yes --bundle ${folder}/install.yaml.bundle ${folder}/install.yaml`,
    ],
  )
  const [generator, host, operator, toolkit] = images
  const imagesOf = (chart: string): string[] => {
    const { annotations } = parse(readFileSync(join(folder, `chart-${chart}/Chart.yaml`), 'utf8'))
    return parse(annotations['artifacthub.io/images']).map(({ image }: { image: string }) => image)
  }
  assert.deepEqual(['operator', 'generator', 'host'].map(imagesOf), [
    [operator, generator, host, toolkit],
    [generator],
    [host],
  ])
  assert.equal(lstatSync(join(folder, 'chart-host/charts/library')).isDirectory(), true)
  const rendered = calls().find((call) => call.startsWith('helm template'))
  for (const image of [generator, host, toolkit, operator?.split('@')[0]]) {
    assert.ok(rendered?.includes(`=${image}`), rendered)
  }
})

test('what is signed names the commit where everybody finds it, and who built it, by URIs', () => {
  standIns({
    git: 'case $1 in rev-parse) echo 0123abc ;; log) echo 0 ;; esac',
    buildah: 'case "$*" in *--digestfile*) echo sha256:0 >"$3" ;; esac',
    syft: '',
    cosign: `case "$*" in *slsaprovenance1*) cp "$6" '${folder}/provenance.json' ;; esac`,
    ...helm,
  })
  const { code, stderr } = run('images/publish', 'registry.example.org/viewmesh-', '0.1.0', source)
  assert.deepEqual([code, stderr], [0, ''])
  const { buildDefinition, runDetails } = JSON.parse(
    readFileSync(join(folder, 'provenance.json'), 'utf8'),
  )
  const commit = `git+${source}@0123abc`
  assert.deepEqual(buildDefinition.resolvedDependencies, [
    { uri: commit, digest: { gitCommit: '0123abc' } },
  ])
  assert.deepEqual(runDetails, { builder: { id: `${commit}#images/publish` } })
  assert.ok(URL.canParse(runDetails.builder.id))
})

for (const secret of [
  'https://me:token@git.example.org/viewmesh',
  'https://git.example.org/viewmesh?token=secret',
  'git@git.example.org:viewmesh',
]) {
  test(`nothing is published with ${secret} as the place of the commit`, () => {
    standIns({ git: '', buildah: '', syft: '', cosign: '', helm: '' })
    const { code, stderr } = run('images/publish', 'registry.example.org/', '0.1.0', secret)
    assert.equal(code, 1)
    assert.match(stderr, /SOURCE is a URL with https:\/\/ and nothing secret/)
    assert.deepEqual(calls(), [''])
  })
}
