/** Changes Views of a project until it is killed: what a test of kills runs. */
import process from 'node:process'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { openProject } from '../../../src/toolkit/project/project.ts'

const [, , cwd = '', round = '0'] = process.argv
const terminal = { cwd, homeFolder: cwd, signal: new AbortController().signal } as Terminal
const project = await openProject(terminal)
const contentOf = (n: number) => ({
  query: `Log { address data${n} }`,
  sdl: `type Things { a${n}: String }`,
  lenses: [{ label: 'only', args: { n: `${n}` }, wasm: Uint8Array.of(0, 97, 115, 109, n % 256) }],
})
for (let n = Number(round) * 10_000 + 1; ; n += 1) {
  await project.change('Things', 'change', () => contentOf(n))
  await project.rollback('Things', null)
  process.stdout.write('changing\n')
  const name = `New${n}`
  await project.create(name, contentOf(n), 'create')
  await project.delete(name)
}
