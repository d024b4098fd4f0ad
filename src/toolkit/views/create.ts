/** `view create`: a whole View in one step, from its parts or from the ABI of a contract. */
import { usageError } from '../cli/exit-code.ts'
import type { Terminal } from '../cli/terminal.ts'
import { checkLensLabel, checkViewName } from '../project/names.ts'
import { openProject, type Project } from '../project/project.ts'
import type { ViewDraft } from '../project/project-view.ts'
import { viewOfEvent } from './from-abi.ts'
import { remarkFolder } from './init.ts'
import { parseLensArguments } from './lens-arguments.ts'
import { readLensSource } from './lens-source.ts'
import { readTextFile } from './text-source.ts'
import { checkLensCount, checkQuery, checkSdl, checkTogether } from './view-parts.ts'
import { printView } from './view-text.ts'

interface CreateFlags {
  readonly query?: string
  readonly sdl?: string
  /** `label:path` or `label:path:{...}`. */
  readonly lens: readonly string[]
  readonly fromAbi?: string
  readonly event?: string
  readonly address?: string
  readonly json?: boolean
}

/** Makes the View, or nothing where a part is refused. */
export async function createView(
  terminal: Terminal,
  name: string,
  flags: CreateFlags,
): Promise<void> {
  // Before a lens is fetched for a View that cannot be.
  checkViewName(name)
  const project = await openProject(terminal)
  const draft =
    flags.fromAbi === undefined
      ? await fromParts(terminal, project, flags)
      : await fromAbi(terminal, name, { ...flags, file: flags.fromAbi })
  if (draft.query !== null) checkQuery(draft.query)
  if (draft.sdl !== null) checkSdl(draft.sdl)
  checkTogether(draft.query, draft.sdl)
  const view = await project.create(name, draft, 'create')
  printView(terminal, view, { json: flags.json, folder: project.folder })
  remarkFolder(terminal, project)
}

async function fromAbi(
  terminal: Terminal,
  name: string,
  { file, event, address, query, sdl, lens }: CreateFlags & { readonly file: string },
): Promise<ViewDraft> {
  if (query !== undefined || sdl !== undefined || lens.length > 0)
    throw usageError(
      '--from-abi makes query, SDL and lens itself',
      'Leave --query, --sdl and --lens out; change the View afterwards.',
    )
  if (event === undefined)
    throw usageError('--event is required with --from-abi', 'Name an event of the ABI.')
  return viewOfEvent({ name, abi: await readTextFile(terminal, file), event, address })
}

async function fromParts(
  terminal: Terminal,
  project: Project,
  { query, sdl, lens, event, address }: CreateFlags,
): Promise<ViewDraft> {
  if (event !== undefined || address !== undefined)
    throw usageError('--event and --address are for --from-abi', 'Give the ABI with --from-abi.')
  checkLensCount(lens.length)
  const lenses: ViewDraft['lenses'][number][] = []
  for (const text of lens) {
    const { label, path, args } = parseLensFlag(text)
    if (lenses.some((other) => other.label === label))
      throw usageError(`two lenses have the label ${label}`, 'Give each a label of its own.')
    lenses.push({ label, args, ...(await readLensSource(terminal, project, { path })) })
  }
  return { query: query ?? null, sdl: sdl ?? null, lenses }
}

function parseLensFlag(text: string) {
  const [, label = '', path = '', args] = /^([^:]*):(.*?)(?::(\{.*))?$/s.exec(text) ?? []
  if (path === '')
    throw usageError(
      `--lens takes no ${JSON.stringify(text.slice(0, 200))}`,
      'Write label:path, or label:path:{"argument": "value"}.',
    )
  checkLensLabel(label)
  return { label, path, args: parseLensArguments(args) }
}
