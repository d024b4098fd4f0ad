/** `view init`: an empty View, or a project to put Views in. */
import { printResult } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { initProject, openProject } from '../project/project.ts'
import { printView } from './view-text.ts'

/** Makes an empty View; without a name the current folder becomes a project. */
export async function initView(
  terminal: Terminal,
  name: string | undefined,
  { json }: { readonly json?: boolean },
): Promise<void> {
  if (name === undefined) {
    const isNew = await initProject(terminal)
    const text = isNew ? `${terminal.cwd} is a project now` : `${terminal.cwd} is a project already`
    return printResult(terminal, { folder: terminal.cwd, isNew }, { json, text })
  }
  const project = await openProject(terminal)
  const empty = { query: null, sdl: null, lenses: [] }
  printView(terminal, await project.create(name, empty, 'init'), { json, folder: project.folder })
}
