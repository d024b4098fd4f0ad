/** A project in a folder of its own, and what Views in it consist of. */
import type { TestContext } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { initProject, openProject, type Project } from '../../../src/toolkit/project/project.ts'
import type { ViewDraft } from '../../../src/toolkit/project/project-view.ts'
import { openTestTerminal } from './test-terminal.ts'

/** What begins as a module does. */
export const wasm = (byte: number): Uint8Array =>
  Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, byte)

export const draft = (content: Partial<ViewDraft> = {}): ViewDraft => ({
  query: 'Log { address }',
  sdl: 'type Thing { address: String }',
  lenses: [{ label: 'first', args: { src: 'address' }, wasm: wasm(1) }],
  ...content,
})

/** An empty project. */
export async function openTestProject(context: TestContext): Promise<Project> {
  const { cwd, homeFolder } = await openTestTerminal(context)
  const terminal = { cwd, homeFolder, signal: new AbortController().signal } as Terminal
  await initProject(terminal)
  return openProject(terminal)
}
