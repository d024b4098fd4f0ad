import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

interface LockEntry {
  readonly version?: string
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

type Versions = Readonly<Record<string, string>>

const readJson = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
const lock = readJson('package-lock.json') as { packages: Readonly<Record<string, LockEntry>> }
const manifest = readJson('package.json') as { dependencies: Versions; devDependencies: Versions }

/** Where npm looks for a package: beside its user, then in each folder above. */
function findPackage(user: string, name: string): LockEntry | undefined {
  const candidate = lock.packages[`${user === '' ? '' : `${user}/`}node_modules/${name}`]
  if (candidate !== undefined || user === '') return candidate
  return findPackage(user.slice(0, Math.max(0, user.lastIndexOf('/node_modules/'))), name)
}

/**
 * npm leaves an optional package out of the lock file when it cannot look it up while writing, and
 * then refuses the file everywhere ("Missing: ... from lock file"). What is missing is added by hand
 * with version, cpu and os, as the anvil packages are.
 */
test('the lock file names every optional package, so that npm ci works on every platform', () => {
  const missing = Object.entries(lock.packages).flatMap(([user, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => findPackage(user, name) === undefined)
      .map(([name, version]) => `${user} needs ${name} ${version}`),
  )
  assert.deepEqual(missing, [])
})

test('the lock file names no registry, so that it works with any', () => {
  const addressed = Object.entries(lock.packages).filter(
    ([, entry]) => entry.resolved !== undefined,
  )
  assert.deepEqual(addressed, [])
})

test('package.json and the lock file agree on exact versions', () => {
  for (const [name, version] of Object.entries({
    ...manifest.dependencies,
    ...manifest.devDependencies,
  })) {
    assert.equal(lock.packages[`node_modules/${name}`]?.version, version, name)
  }
})
