/** The floors inside the peer-to-peer room. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSourceFiles } from '../support/source-files.ts'

/** From the ground up; what is right in `src/p2p` stands on top of all of them. */
const floors: readonly string[] = [
  'limits',
  'peers',
  'streams',
  'gossip',
  'range',
  'connections',
  '',
]

const maxFiles = 25
const files = readSourceFiles('src/p2p')

function floorOf(path: string): string {
  return /^src\/p2p\/(?:([^/]+)\/)?[^/]+$/.exec(path)?.[1] ?? ''
}

test('the parts of the room import from floors below their own, types included', () => {
  const breaches = files.flatMap(({ path, imports }) => {
    const from = floorOf(path)
    return imports
      .filter(({ own, target }) => own && target.startsWith('src/p2p/'))
      .map(({ target }) => ({ target, to: floorOf(target) }))
      .filter(({ to }) => to !== from && floors.indexOf(to) > floors.indexOf(from))
      .map(({ target }) => `${path} imports ${target}`)
  })
  assert.deepEqual(breaches, [])
  assert.deepEqual(
    [...new Set(files.map(({ path }) => floorOf(path)))].toSorted(),
    floors.toSorted(),
  )
})

test('two files never need each other, not even for types', () => {
  const needs = new Map(
    files.map(({ path, imports }) => [path, imports.map(({ target }) => target)]),
  )
  const reached = (path: string, seen: Set<string>): Set<string> => {
    for (const next of needs.get(path) ?? []) if (!seen.has(next)) reached(next, seen.add(next))
    return seen
  }
  const circular = [...needs.keys()].filter((path) => reached(path, new Set()).has(path))
  assert.deepEqual(circular, [])
})

test(`no folder of the room has more than ${maxFiles} files`, () => {
  const counts = Map.groupBy(files, ({ path }) => floorOf(path))
  const crowded = [...counts].filter(([, list]) => list.length > maxFiles)
  assert.deepEqual(
    crowded.map(([floor]) => floor),
    [],
  )
})
