/** `view rollback`: an earlier version of a View as the next one. */
import { usageError } from '../cli/exit-code.ts'
import { remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openProject } from '../project/project.ts'
import { printView } from './view-text.ts'

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
  const isRestored = view.revision === restored
  const what = isRestored ? `the files of ${name} are` : `version ${view.revision} of ${name} is`
  remark(terminal, `${what} version ${restored} again`)
  printView(terminal, view, { json, folder: project.folder })
}
