/** Where a line of code belongs: rooms stand on floors, and imports, those of types too, go downwards. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSourceFiles } from '../support/source-files.ts'
import { type Floors, ground, innerFloors, mayImport, roomIn, sourceFloors } from './floors.ts'

const files = readSourceFiles('src', 'operator')
const buildings: Readonly<Record<string, Floors>> = { src: sourceFloors, ...innerFloors }
const maxFiles = 25

for (const [base, floors] of Object.entries(buildings)) {
  test(`imports inside ${base} go downwards, never sideways`, () => {
    const breaches = files.flatMap(({ path, imports }) => {
      const from = roomIn(base, floors, path)
      if (from === undefined) return []
      return imports
        .filter(({ own }) => own)
        .map(({ target }) => ({ target, to: roomIn(base, floors, target) }))
        .filter(({ to }) => to !== undefined && !mayImport(floors, from, to))
        .map(({ target }) => `${path} imports ${target}`)
    })
    assert.deepEqual(breaches, [])
  })

  test(`every room of ${base} has its floor, and every floor has its rooms`, () => {
    const rooms = new Set(files.flatMap(({ path }) => roomIn(base, floors, path) ?? []))
    assert.deepEqual([...rooms].toSorted(), floors.flat().toSorted())
  })
}

test('every folder that has rooms inside has floors for them', () => {
  const inner = files.map(({ path }) => path.split('/').slice(0, -2).join('/'))
  const unlisted = [...new Set(inner)].filter((base) => base !== '' && !(base in buildings))
  assert.deepEqual(unlisted.filter((base) => !isFlat(base)).toSorted(), [])
})

test('the operator sees nothing of the programs but what they share with it', () => {
  // Definitions of Views are read by the same code as in a Host.
  const shared = /^src\/(?:service\/|views\/|errors\.ts$|plain-error\.ts$)/
  // Whoever restores an identity opens its key file first.
  const ofPlugin = /^src\/(?:service\/|identity\/|errors\.ts$|plain-error\.ts$)/
  const breaches = files
    .filter(({ path }) => path.startsWith('operator/'))
    .flatMap(({ path, imports }) => {
      const seen = path.startsWith('operator/plugin/identity/') ? ofPlugin : shared
      return imports
        .filter(({ own, target }) => own && target.startsWith('src/') && !seen.test(target))
        .map(({ target }) => `${path} imports ${target}`)
    })
  assert.deepEqual(breaches, [])
})

test('the ground floor has no I/O, no clock and no chance', () => {
  const rooms = files.filter(({ path }) =>
    ground.includes(roomIn('src', sourceFloors, path) ?? 'elsewhere'),
  )
  assert.deepEqual(impure(rooms, ['node:buffer', 'node:crypto', 'node:zlib']), [])
})

test('what is made of a resource depends on nothing but what is given', () => {
  const pure = files.filter(({ path }) => /^operator\/(?:api|resources)\b/.test(path))
  assert.ok(pure.length > 30)
  assert.deepEqual(impure(pure, ['node:crypto', 'node:util']), [])
})

test('what a reconcile evaluates it neither fetches nor writes', () => {
  const rooms = files.filter(({ path }) => path.startsWith('operator/reconcile/evaluate/'))
  assert.ok(rooms.length > 8)
  const breaches = rooms.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => target === 'operator/runtime/client/api.ts')
      .map(({ target }) => `${path} imports ${target}`),
  )
  assert.deepEqual(breaches, [])
})

test(`no folder has more than ${maxFiles} source files`, () => {
  const all = [...files, ...readSourceFiles('test')]
  const folders = Map.groupBy(all, ({ path }) => path.slice(0, path.lastIndexOf('/')))
  const crowded = [...folders].filter(([, inside]) => inside.length > maxFiles)
  assert.deepEqual(
    crowded.map(([folder, inside]) => `${folder} has ${inside.length}`),
    [],
  )
})

/** Whether only one folder is in it, so that there is no order to keep. */
function isFlat(base: string): boolean {
  const inside = files.filter(({ path }) => path.startsWith(`${base}/`))
  return new Set(inside.map(({ path }) => path.slice(base.length).split('/')[1])).size === 1
}

/** Files with a clock, with chance, or with another module of Node than these. */
function impure(sources: typeof files, allowed: readonly string[]): string[] {
  const moving =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\brandomBytes\b|\bset(?:Timeout|Interval)\b|\bfetch\(/
  return sources
    .filter(
      ({ text, imports }) =>
        moving.test(text) ||
        imports.some(({ target }) => target.startsWith('node:') && !allowed.includes(target)),
    )
    .map(({ path }) => path)
}
