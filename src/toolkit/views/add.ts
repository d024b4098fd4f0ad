/** `view add`: query, SDL and lenses; each makes the next version. */
import { ServiceError } from '../../errors.ts'
import { usageError } from '../cli/exit-code.ts'
import type { Terminal } from '../cli/terminal.ts'
import { checkLensLabel } from '../project/names.ts'
import { openProject } from '../project/project.ts'
import type { ProjectView, ViewDraft } from '../project/project-view.ts'
import { parseLensArguments } from './lens-arguments.ts'
import { type LensSource, readLensSource } from './lens-source.ts'
import { readTypedPart } from './text-source.ts'
import { checkLensCount, checkQuery, checkSdl, checkTogether } from './view-parts.ts'
import { printView } from './view-text.ts'

interface CommonFlags {
  readonly name?: string
  readonly json?: boolean
}

interface TextFlags extends CommonFlags {
  readonly file?: string
}

/** Replaces the query. */
export async function addQuery(
  terminal: Terminal,
  text: string | undefined,
  { file, ...flags }: TextFlags,
): Promise<void> {
  const query = await readTypedPart(terminal, 'query', { text, file })
  checkQuery(query)
  await changeView(terminal, flags, 'add query', (view) => {
    checkTogether(query, view.sdl)
    return { ...view, query }
  })
}

/** Replaces the whole SDL. */
export async function addSdl(
  terminal: Terminal,
  text: string | undefined,
  { file, ...flags }: TextFlags,
): Promise<void> {
  const sdl = await readTypedPart(terminal, 'SDL', { text, file })
  checkSdl(sdl)
  await changeView(terminal, flags, 'add sdl', (view) => {
    checkTogether(view.query, sdl)
    return { ...view, sdl }
  })
}

interface LensFlags extends CommonFlags, LensSource {
  readonly label?: string
  readonly args?: string
}

/** Adds a lens behind those that are there. */
export async function addLens(terminal: Terminal, flags: LensFlags): Promise<void> {
  const label = requireLabel(flags)
  const name = requireName(flags)
  const args = parseLensArguments(flags.args)
  const project = await openProject(terminal)
  const module = await readLensSource(terminal, project, flags)
  const view = await project.change(name, `add lens ${label}`, (before) => {
    checkLabelIsFree(before, label)
    checkLensCount(before.lenses.length + 1)
    return { ...before, lenses: [...before.lenses, { label, args, ...module }] }
  })
  printView(terminal, view, { json: flags.json, folder: project.folder })
}

/** Without a source as well, that is what is said: a label alone would not help. */
function requireLabel({ label, path, url }: LensFlags): string {
  if (path === undefined && url === undefined)
    throw usageError(
      'either --path or --url must be provided',
      'Provide one; --label is always required.',
    )
  if (label === undefined)
    throw usageError('--label is required', 'Name the lens: that is how remove lens finds it.')
  checkLensLabel(label)
  return label
}

function checkLabelIsFree({ lenses }: ProjectView, label: string): void {
  if (lenses.some((lens) => lens.label === label))
    throw new ServiceError(
      'TOOLKIT_LENS_EXISTS',
      `lens with label ${JSON.stringify(label)} already exists`,
      { remedy: 'Choose another label, or remove that lens first.' },
    )
}

/** Changes the View that `--name` names and prints it. */
export async function changeView(
  terminal: Terminal,
  flags: CommonFlags,
  cause: string,
  change: (view: ProjectView) => ViewDraft,
): Promise<void> {
  const name = requireName(flags)
  const project = await openProject(terminal)
  const view = await project.change(name, cause, change)
  printView(terminal, view, { json: flags.json, folder: project.folder })
}

/** @throws ServiceError `TOOLKIT_USAGE_INVALID` */
export function requireName({ name }: CommonFlags): string {
  if (name === undefined)
    throw usageError('view name is required (use --name)', 'viewmesh view list shows them.')
  return name
}
