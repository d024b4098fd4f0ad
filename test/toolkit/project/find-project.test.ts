import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import type { ServiceError } from '../../../src/errors.ts'
import { findProject } from '../../../src/toolkit/project/find-project.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

/** Finds the project of a folder. */
const find = (cwd: string, homeFolder = '/home/nobody') =>
  findProject({ cwd, homeFolder } as Parameters<typeof findProject>[0])

test('a command in a folder of a project works on the nearest project above it', async (context) => {
  const { cwd } = await openTestTerminal(context)
  const inner = join(cwd, 'a/b')
  const deep = join(inner, 'c/d')
  await mkdir(deep, { recursive: true })
  await writeFile(join(cwd, 'viewmesh.yaml'), 'version: 1\n')
  const outer = { folder: cwd, history: join(cwd, '.viewmesh') }
  assert.deepEqual(await find(deep), { ...outer, settingsFile: join(cwd, 'viewmesh.yaml') })
  await writeFile(join(inner, 'viewmesh.yaml'), 'version: 1\n')
  assert.equal((await find(deep)).folder, inner)
  assert.equal((await find(join(cwd, 'a'))).folder, cwd)
})

test('a command outside of every project works on the one of the home folder', async (context) => {
  const { cwd, homeFolder } = await openTestTerminal(context)
  const folder = join(homeFolder, '.viewmesh')
  assert.deepEqual(await find(cwd, homeFolder), {
    ...{ folder, history: join(folder, 'history'), settingsFile: null },
  })
})

test('a project of another version, or one whose file is no YAML, is refused by name', async (context) => {
  const { cwd } = await openTestTerminal(context)
  const path = join(cwd, 'viewmesh.yaml')
  for (const [text, what] of [
    ['version: 2', 'has the version 2, only 1 is known'],
    ['', 'has the version none, only 1 is known'],
    ['a', 'has the version none, only 1 is known'],
    ['version: [', 'cannot be read'],
    ['version: {toString: 1}', 'has the version {"toString":1}, only 1 is known'],
    ['version: "\\e[31m\\n2"', 'has the version "\\u001b[31m\\n2", only 1 is known'],
    [
      `version: ${'9'.repeat(15)}${'x'.repeat(90)}`,
      `has the version "${'9'.repeat(15)}${'x'.repeat(24)}…, only 1 is known`,
    ],
    [`version: 1\n${'#'.repeat(65_536)}`, 'cannot be read'],
  ] as const) {
    await writeFile(path, text)
    await assert.rejects(find(cwd), {
      code: 'TOOLKIT_PROJECT_UNREADABLE',
      message: `${path} ${what}`,
    })
  }
})

test('a pipe in place of the file of a project is refused, and nobody waits for its writer', async (context) => {
  const { cwd } = await openTestTerminal(context)
  const path = join(cwd, 'viewmesh.yaml')
  execFileSync('mkfifo', [path])
  await assert.rejects(find(cwd), {
    code: 'TOOLKIT_PROJECT_UNREADABLE',
    message: `${path} is not a file`,
  })
})

const isRoot = process.getuid?.() === 0
test('the file of a project may be of whoever works on it, or of root', {
  skip: !isRoot && 'only root can give a file away',
}, async (context) => {
  const { cwd } = await openTestTerminal(context)
  const path = join(cwd, 'viewmesh.yaml')
  await writeFile(path, 'version: 1\n')
  const foundBy = async (user: number, owner: number): Promise<boolean> => {
    await chown(path, owner, owner)
    context.mock.method(process as { getuid(): number }, 'getuid', () => user)
    return await find(cwd).then(
      () => true,
      ({ code }: ServiceError) => code !== 'TOOLKIT_PROJECT_UNREADABLE',
    )
  }
  assert.deepEqual([await foundBy(1_000, 1_000), await foundBy(1_000, 0)], [true, true])
  assert.deepEqual([await foundBy(1_000, 1_001), await foundBy(1_000, 1)], [false, false])
})
