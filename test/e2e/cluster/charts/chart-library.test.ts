import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { readVersion } from '../../../../src/service/version.ts'
import { repository } from '../../../support/repository.ts'
import { helm } from '../support/helm.ts'

const values = {
  mode: 'standalone',
  existingSecret: 'keyring',
  global: { imageRegistry: 'localhost' },
  spec: { upstream: { service: { name: 'geth' } } },
}
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'viewmesh-charts-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** What a chart in a folder or an archive comes to. */
async function rendered(chart: string): Promise<string> {
  const args = ['template', 'mainnet', chart, '--kube-version', '1.34.0']
  const { code, stdout, stderr } = await helm(args, values)
  assert.equal(code, 0, stderr)
  return stdout
}

test('a packaged chart has the library in it', async () => {
  const { code, stderr } = await helm(['package', 'charts/generator', '--destination', folder])
  assert.equal(code, 0, stderr)
  const archive = join(folder, `generator-${readVersion()}.tgz`)
  assert.equal(await rendered(archive), await rendered('charts/generator'))
})

test('where the link to the library is lost, helm puts it there from its folder', async () => {
  cpSync(`${repository}/charts`, folder, { recursive: true, verbatimSymlinks: true })
  const chart = join(folder, 'generator')
  rmSync(join(chart, 'charts/library'))
  const { code, stderr } = await helm(['dependency', 'build', chart])
  assert.equal(code, 0, stderr)
  assert.equal(await rendered(chart), await rendered('charts/generator'))
})
