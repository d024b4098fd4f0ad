/** `view list`: the Views of a project. */
import { ServiceError } from '../../errors.ts'
import { printResult, toSingleLine } from '../cli/print.ts'
import { tableText } from '../cli/table.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openProject, type Project } from '../project/project.ts'

interface ListedView {
  readonly name: string
  /** Null where its files cannot be read. */
  readonly revision: number | null
  readonly lenses: readonly string[]
  /** Why it cannot be read. */
  readonly error: string | null
}

/** Characters of why one cannot be read, which may quote its files. */
const maxReason = 300

/** Prints all of them; one that cannot be read keeps no other from being listed. */
export async function printViewList(
  terminal: Terminal,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const project = await openProject(terminal)
  const views: ListedView[] = []
  for (const name of await project.names()) views.push(await toListed(project, name))
  const rows = views.map(({ name, revision, lenses, error }) => [
    name,
    revision === null ? '-' : String(revision),
    error ?? (lenses.length === 0 ? '(no lenses)' : lenses.join(' > ')),
  ])
  const text =
    rows.length === 0
      ? `no Views in ${project.folder}`
      : tableText(['NAME', 'VERSION', 'LENSES'], rows)
  printResult(terminal, { folder: project.folder, views }, { json, text })
}

async function toListed(project: Project, name: string): Promise<ListedView> {
  try {
    const { revision, lenses } = await project.load(name)
    return { name, revision, lenses: lenses.map(({ label }) => label), error: null }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const reason = toSingleLine(error.message).slice(0, maxReason)
    return { name, revision: null, lenses: [], error: reason }
  }
}
