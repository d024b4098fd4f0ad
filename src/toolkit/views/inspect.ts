/** `view inspect`, `view rollback`, `view delete`: a View with its versions. */
import { usageError } from '../cli/exit-code.ts'
import { printResult, remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openProject } from '../project/project.ts'
import { describeRevisions, revisionsText } from './revision-text.ts'
import { printView } from './view-text.ts'

/** Prints a View; `verbose` adds its versions with what each changed. */
export async function inspectView(
  terminal: Terminal,
  name: string,
  { json, verbose }: { readonly json?: boolean; readonly verbose?: boolean },
): Promise<void> {
  const project = await openProject(terminal)
  const view = await project.load(name)
  const options = { json, folder: project.folder }
  if (verbose !== true) return printView(terminal, view, options)
  const revisions = await project.revisions(name)
  const history = { text: revisionsText(revisions), value: describeRevisions(revisions) }
  printView(terminal, view, { ...options, history })
}

/** Brings back the given version, or the one before the present. */
export async function rollbackView(
  terminal: Terminal,
  name: string,
  { json, version }: { readonly json?: boolean; readonly version?: string },
): Promise<void> {
  if (version !== undefined && !/^[1-9][0-9]{0,8}$/.test(version))
    throw usageError(`--version takes no ${JSON.stringify(version)}`, 'It is a number from 1 on.')
  const project = await openProject(terminal)
  const wanted = version === undefined ? null : Number(version)
  const { view, restored } = await project.rollback(name, wanted)
  const isMended = view.revision === restored
  const what = isMended ? `the files of ${name} are` : `version ${view.revision} of ${name} is`
  remark(terminal, `${what} version ${restored} again`)
  printView(terminal, view, { json, folder: project.folder })
}

/** Removes a View with its versions. */
export async function deleteView(
  terminal: Terminal,
  name: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const project = await openProject(terminal)
  await project.delete(name)
  printResult(terminal, { deleted: name }, { json, text: `deleted view ${name}` })
}
