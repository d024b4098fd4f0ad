import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPage } from './support/page.ts'

const text = readPage('CONTRIBUTING.md')

test('CONTRIBUTING gives the reason of every dependency', () => {
  const manifest = JSON.parse(readPage('package.json'))
  const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
  const named = new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name))
  assert.deepEqual(
    dependencies.filter((name) => !named.has(name)),
    [],
  )
})

test('README and CONTRIBUTING stay short enough to be read', () => {
  const lines = readPage('README.md').trimEnd().split('\n').length
  assert.ok(lines <= 220, `README has ${lines} lines`)
  const bytes = Buffer.byteLength(text)
  assert.ok(bytes <= 10_000, `CONTRIBUTING has ${bytes} bytes`)
})
