/** `view remove`: query, SDL and lenses; each makes the next version. */
import { didYouMean, nearestName } from '../../did-you-mean.ts'
import { ServiceError } from '../../errors.ts'
import { usageError } from '../cli/exit-code.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openProject } from '../project/project.ts'
import type { ProjectView, ViewDraft } from '../project/project-view.ts'
import { changeView, requireName } from './add.ts'

interface RemoveFlags {
  readonly name?: string
  readonly label?: string
  readonly json?: boolean
}

/** Takes a part out; without a query or an SDL a View cannot be deployed. */
export async function removePart(
  terminal: Terminal,
  part: 'query' | 'sdl',
  flags: RemoveFlags,
): Promise<void> {
  await changeView(terminal, flags, `remove ${part}`, (view) => ({ ...view, [part]: null }))
}

/** Takes out the lens with a label; rolling back brings it again with its module. */
export async function removeLens(terminal: Terminal, flags: RemoveFlags): Promise<void> {
  const { label } = flags
  if (label === undefined)
    throw usageError('--label is required', 'viewmesh view inspect shows the labels of a View.')
  const name = requireName(flags)
  // A lens whose module is lost is a reason to remove it.
  await (await openProject(terminal)).putBackLenses(name)
  await changeView(terminal, flags, `remove lens ${label}`, (view) => withoutLens(view, label))
}

function withoutLens(view: ProjectView, label: string): ViewDraft {
  const lenses = view.lenses.filter((lens) => lens.label !== label)
  if (lenses.length < view.lenses.length) return { ...view, lenses }
  const labels = view.lenses.map((lens) => lens.label)
  const meant = didYouMean(nearestName(label, labels))
  throw new ServiceError(
    'TOOLKIT_LENS_UNKNOWN',
    `view '${view.name}' has no lens with the label ${JSON.stringify(label)}${meant}`,
    { remedy: `viewmesh view inspect ${view.name} shows the labels.` },
  )
}
