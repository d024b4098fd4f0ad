import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { repository } from '../support/repository.ts'

const read = (path: string): string => readFileSync(`${repository}/${path}`, 'utf8')

/** Paths of the files below a folder of the repository. */
function filesBelow(folder: string): string[] {
  return readdirSync(`${repository}/${folder}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((path) => statSync(`${repository}/${path}`).isFile())
}

for (const chart of ['generator', 'host']) {
  test(`${chart}: the chart installs from a clone, with the library that it depends on`, () => {
    const { dependencies } = parse(read(`charts/${chart}/Chart.yaml`))
    const { name, version } = parse(read('charts/library/Chart.yaml'))
    assert.deepEqual(dependencies, [{ name, version, repository: 'file://../library' }])
    assert.equal(readlinkSync(`${repository}/charts/${chart}/charts/library`), '../../library')
  })

  test(`${chart}: its templates are the library's, but for its notes`, () => {
    const texts = filesBelow(`charts/${chart}/templates`)
      .filter((path) => !path.endsWith('NOTES.txt'))
      .map(read)
    assert.equal(texts.length, 3)
    for (const text of texts) assert.match(text, /^\{\{ include "viewmesh\.\w+" \. \}\}\n$/)
  })
}

test('every template has one definition, and somebody includes it', () => {
  const folders = ['library', 'generator', 'host'].map((chart) => `charts/${chart}/templates`)
  const all = folders.flatMap(filesBelow).map(read).join('')
  const defined = [...all.matchAll(/define "(viewmesh\.\w+)"/g)].map(([, name]) => name)
  const included = [...all.matchAll(/include (?:\(printf )?"(viewmesh\.[\w%]+)"/g)].flatMap(
    ([, name = '']) => ['generator', 'host'].map((program) => name.replace('%s', program)),
  )
  assert.deepEqual(defined.toSorted(), [...new Set(included)].toSorted())
})

test('no template is longer than a file of ours may be', () => {
  for (const path of ['library', 'operator'].flatMap((chart) => filesBelow(`charts/${chart}`))) {
    if (path.endsWith('.tpl')) assert.ok(read(path).split('\n').length <= 400, path)
  }
})
