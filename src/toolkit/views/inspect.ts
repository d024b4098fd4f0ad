/** `view inspect`: a View, with its versions where they are wanted. */
import { ServiceError } from '../../errors.ts'
import { printResult } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openProject, type Project } from '../project/project.ts'
import type { ProjectView } from '../project/project-view.ts'
import type { Revision } from '../project/revision.ts'
import { describeRevisions, revisionsText } from './revision-text.ts'
import { printView } from './view-text.ts'

interface Flags {
  readonly json?: boolean
  readonly verbose?: boolean
}

/**
 * Prints a View; `verbose` adds its versions with what each changed. Of a View whose files cannot be read it prints what was kept
 * last, and throws why.
 */
export async function inspectView(terminal: Terminal, name: string, flags: Flags): Promise<void> {
  const project = await openProject(terminal)
  const view = await loadOrPrintKept(terminal, project, name, flags)
  const options = { json: flags.json, folder: project.folder }
  if (flags.verbose !== true) return printView(terminal, view, options)
  const revisions = await project.revisions(name)
  const history = { text: revisionsText(revisions), value: describeRevisions(revisions) }
  printView(terminal, view, { ...options, history })
}

async function loadOrPrintKept(
  terminal: Terminal,
  project: Project,
  name: string,
  flags: Flags,
): Promise<ProjectView> {
  try {
    return await project.load(name)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'TOOLKIT_VIEW_MISSING') throw error
    // Where the history cannot be read either, the first failure is the one that counts.
    const revisions = await project.revisions(name).catch(() => [])
    printKept(terminal, name, revisions, { ...flags, error: error.message })
    throw error
  }
}

function printKept(
  terminal: Terminal,
  name: string,
  revisions: readonly Revision[],
  { json, verbose, error }: Flags & { readonly error: string },
): void {
  const last = revisions.at(-1)
  if (last === undefined) return
  const shown = verbose === true ? revisions : [last]
  const { revision, query, sdl, lenses } = last
  const value = {
    ...{ name, revision, error, query, sdl, lenses },
    ...(verbose === true && { revisions: describeRevisions(revisions) }),
  }
  const text = `View: ${name}, as it was kept: its files cannot be read now\n\n${revisionsText(shown)}`
  printResult(terminal, value, { json, text })
}
