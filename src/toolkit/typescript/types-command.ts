/** `viewmesh types`: TypeScript types and typed queries for Views. */
import { resolve } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { usageError } from '../cli/exit-code.ts'
import { parseHostUrl } from '../cli/http-url.ts'
import { printResult } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { fileSource } from './file-source.ts'
import { hostSource } from './host-source.ts'
import { projectSource } from './project-source.ts'
import type { TypesSource } from './types-source.ts'
import { viewModule } from './view-module.ts'
import { watchTypes } from './watch-types.ts'
import { checkModulePath, writeModule } from './write-module.ts'

export interface TypesFlags {
  /** Files of SDL, `-` for standard input. */
  readonly file?: readonly string[]
  /** A Host that serves the Views. */
  readonly host?: string
  readonly out?: string
  readonly force?: boolean
  readonly json?: boolean
  readonly watch?: boolean
}

/** Prints the module, or writes it to the file of `--out`; with `--watch` again and again. */
export async function writeTypes(
  terminal: Terminal,
  names: readonly string[],
  flags: TypesFlags,
): Promise<void> {
  const source = openSource(terminal, names, flags)
  const { out, json } = flags
  if (out !== undefined) {
    if (flags.watch === true) return await watchAndWrite(terminal, source, { ...flags, out })
    const { text, ...written } = await writeOnce(terminal, source, { ...flags, out })
    return printResult(terminal, written, { json, text })
  }
  const { views, typescript } = await makeModule(source)
  if (json === true) printResult(terminal, { views, typescript }, { json, text: '' })
  else terminal.stdout.write(typescript)
}

async function watchAndWrite(
  terminal: Terminal,
  source: TypesSource,
  flags: TypesFlags & { readonly out: string },
): Promise<void> {
  const { out, force = false } = flags
  await checkModulePath(resolve(terminal.cwd, out), { force })
  await watchTypes(terminal, source, () => writeOnce(terminal, source, flags))
}

function openSource(terminal: Terminal, names: readonly string[], flags: TypesFlags): TypesSource {
  checkFlags(flags)
  const { file = [], host } = flags
  if (file.length === 0)
    return host === undefined ? projectSource(terminal, names) : hostSource(terminal, host, names)
  if (host !== undefined || names.length > 0)
    throw usageError(
      `${host === undefined ? 'names of Views' : '--host'} and --file are both given`,
      'Give --file for files of SDL, --host for Views of a Host, or neither for those of a project.',
    )
  return fileSource(terminal, file)
}

function checkFlags({ file = [], host, out, force, json, watch }: TypesFlags): void {
  if (force === true && out === undefined)
    throw usageError('--force is given without --out', 'Name the file to replace with --out.')
  if (watch === true && out === undefined)
    throw usageError(
      '--watch is given without --out',
      'Name the file to keep up to date with --out.',
    )
  if (watch === true && json === true)
    throw usageError('--watch and --json are both given', 'Leave one of them out.')
  if (watch === true && file.includes('-'))
    throw usageError('--watch is given with --file -', 'Standard input is read once: name a file.')
  if (host !== undefined) parseHostUrl('--host', host)
}

interface MadeModule {
  readonly views: readonly string[]
  readonly typescript: string
}

async function makeModule(source: TypesSource): Promise<MadeModule> {
  const views = await source.read()
  if (views.length === 0)
    throw new ServiceError('TOOLKIT_VIEW_MISSING', 'there is no View here', {
      remedy:
        'Run this in a project that has Views, or name files of SDL with --file, or a Host that serves Views with --host.',
    })
  return { views: views.map(({ name }) => name).toSorted(), typescript: viewModule(views) }
}

interface WrittenModule {
  readonly file: string
  readonly outcome: 'written' | 'unchanged'
  readonly views: readonly string[]
  /** For people. */
  readonly text: string
}

async function writeOnce(
  terminal: Terminal,
  source: TypesSource,
  { out, force = false }: TypesFlags & { readonly out: string },
): Promise<WrittenModule> {
  const { views, typescript } = await makeModule(source)
  const outcome = await writeModule(resolve(terminal.cwd, out), typescript, { force })
  return { file: out, outcome, views, text: `${out} ${outcome}: ${shortList(views)}` }
}

const maxShown = 10

function shortList(names: readonly string[]): string {
  const more = names.length - maxShown
  const shown = names.slice(0, maxShown).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}
