/** A project whose commands are killed: whatever moment that hits, each View is whole, as one version or the next. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { initProject, openProject } from '../../../src/toolkit/project/project.ts'
import type { ProjectView } from '../../../src/toolkit/project/project-view.ts'
import { startChild } from '../../support/child-program.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const rounds = 12
const maxWaitMs = 60

async function openKilledProject(context: TestContext) {
  const { cwd, homeFolder } = await openTestTerminal(context)
  const terminal = { cwd, homeFolder, signal: new AbortController().signal } as Terminal
  await initProject(terminal)
  const project = await openProject(terminal)
  await project.create('Things', contentOf(0), 'create')
  return { cwd, project }
}

/** Everything in it follows from one number, so that a mixture shows. */
function contentOf(n: number) {
  return {
    query: `Log { address data${n} }`,
    sdl: `type Things { a${n}: String }`,
    lenses: [{ label: 'only', args: { n: `${n}` }, wasm: Uint8Array.of(0, 97, 115, 109, n % 256) }],
  }
}

function assertWhole({ query, sdl, lenses, name }: ProjectView): void {
  const n = Number(/data(\d+)/.exec(`${query}`)?.[1])
  const found = lenses.map(({ label, args, wasm }) => ({ label, args, wasm }))
  assert.deepEqual({ name, query, sdl, lenses: found }, { name, ...contentOf(n) })
}

test('a View is whole after each of several kills within a change, a rollback or a deletion', async (context) => {
  const { cwd, project } = await openKilledProject(context)
  const random = createSeededRandom('kills')
  for (let round = 0; round < rounds; round += 1) {
    const child = startChild('test/toolkit/support/change-views.ts', { args: [cwd, `${round}`] })
    await child.says('changing')
    // At a random moment of a loop that does nothing but change: an event would always hit the same.
    await new Promise((resolve) => setTimeout(resolve, random.int(maxWaitMs)))
    child.process.kill('SIGKILL')
    await once(child.process, 'close')
    assertWhole(await project.load('Things'))
    for (const name of await project.names()) assertWhole(await project.load(name))
    const revisions = (await project.revisions('Things')).map(({ revision }) => revision)
    assert.deepEqual(
      revisions,
      revisions.map((_, index) => index + 1),
    )
  }
  const causes = (await project.revisions('Things')).map(({ cause }) => cause)
  assert.ok(causes.length > rounds)
  assert.ok(!causes.includes('edited'), 'no mixture was taken for an edit')
  await project.change('Things', 'after all', () => contentOf(1))
  const drafts = await readdir(join(cwd, '.viewmesh/drafts')).catch(() => [])
  assert.deepEqual(drafts, [])
})

test('processes that change one View at once make revisions one after the other', async (context) => {
  const { homeFolder, json } = await openTestTerminal(context)
  const sdl = (n: number): string => `type Things { a${n}: String }`
  await json('view', 'create', 'Things', '--query', 'Log { address }', '--sdl', sdl(0))
  const numbers = [1, 2, 3, 4, 5, 6]
  const started = numbers.map((n) =>
    startChild('src/main.ts', {
      args: ['view', 'add', 'sdl', sdl(n), '--name', 'Things'],
      env: { HOME: homeFolder },
    }),
  )
  const ended = await Promise.all(started.map((child) => child.ended()))
  assert.deepEqual(
    ended.map(({ code, stderr }) => [code, stderr]),
    numbers.map(() => [0, '']),
  )
  const { revisions } = (await json('view', 'inspect', 'Things', '--verbose')) as {
    readonly revisions: readonly { readonly revision: number; readonly difference: string[] }[]
  }
  assert.deepEqual(
    revisions.map(({ revision }) => revision),
    [1, 2, 3, 4, 5, 6, 7],
  )
  // None undoes another unseen: each shows what it took the place of.
  const lines = revisions.flatMap(({ difference }) => difference)
  const signed = (sign: string): string[] =>
    lines.filter((line) => line.startsWith(`  ${sign} type Things`)).map((line) => line.slice(4))
  assert.deepEqual(signed('+').toSorted(), [0, ...numbers].map(sdl))
  assert.deepEqual(signed('-'), signed('+').slice(0, -1))
})
