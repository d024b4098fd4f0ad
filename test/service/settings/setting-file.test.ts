import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readYamlFile } from '../../../src/service/settings/setting-file.ts'
import { list, text } from '../../../src/service/settings/setting-kinds.ts'
import { testDirectory } from '../../support/test-store.ts'

const any = text('any text')
const table = {
  note: { key: 'note', env: 'NOTE', kind: any, doc: 'A note.' },
  names: { key: 'names', env: 'NAMES', kind: list(any), doc: 'Names.' },
  path: { key: 'db.store.path', env: 'DB_STORE_PATH', kind: any, doc: 'Where.' },
}

test('a setting that refers to what is not set is broken, and not merely left out', (t) => {
  const path = join(testDirectory(t), 'settings.yaml')
  const read = (content: string): ReturnType<typeof readYamlFile> => {
    writeFileSync(path, content)
    return readYamlFile(table, path, { ONE: '1' })
  }
  assert.deepEqual(read(`note: "a \${NAME}"\nnames: ["\${ONE}", "a \${OTHER}"]\n`), {
    values: new Map(),
    problems: [
      `note in ${path} refers to NAME, which is not set`,
      `names in ${path} refers to OTHER, which is not set`,
    ],
    broken: new Set(['note', 'names']),
  })
  assert.deepEqual(read(`note: "\${NAME}"\nnames: ["\${ONE}", "\${OTHER}"]\n`), {
    values: new Map([['names', { value: ['1'], origin: 'file', place: `names in ${path}` }]]),
    problems: [],
    broken: new Set(),
  })
})

test('an unknown key suggests one of another section only where that ends alike', (t) => {
  const path = join(testDirectory(t), 'settings.yaml')
  writeFileSync(path, 'generator:\n  store: {path: /a}\n  stores: {paths: /a}\n')
  assert.deepEqual(readYamlFile(table, path, {}).problems, [
    `generator.store.path in ${path} is not a setting; did you mean db.store.path?`,
    `generator.stores.paths in ${path} is not a setting`,
  ])
})
