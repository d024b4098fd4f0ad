/** `view init`: an empty View, or a project to put Views in. */
import { printResult, remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { initProject, openProject, type Project } from '../project/project.ts'
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
  const view = await project.create(name, empty, 'init')
  printView(terminal, view, { json, folder: project.folder })
  remarkFolder(terminal, project)
}

/** Says where a new View lies that is in no project, since nothing of it is where the command was given. */
export function remarkFolder(terminal: Terminal, { isProject, folder }: Project): void {
  if (!isProject)
    remark(
      terminal,
      `${terminal.cwd} is in no project, so the View is kept in ${folder}. viewmesh view init makes a project here.`,
    )
}
