/** `view delete`: ends a View of a project. */
import { printResult } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openProject } from '../project/project.ts'

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
