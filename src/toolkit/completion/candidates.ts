/** What may come next on a command line. */
import type { Command, Option } from 'commander'
import { ServiceError } from '../../errors.ts'
import type { Terminal } from '../cli/terminal.ts'
import { targets } from '../deploy/target.ts'
import { openProject } from '../project/project.ts'
import { otherCommands } from '../toolkit-commands.ts'

/** Values of flags that have few and refuse others by themselves. */
const flagValues: Readonly<Record<string, readonly string[]>> = { '--target': targets }

/** Commands whose name is that of something new. */
const makingCommands: ReadonlySet<string> = new Set(['create', 'init', 'new'])

/**
 * Words that complete the last of `words`, which may be empty; none where a file or free text is wanted. A project that cannot
 * be read has no names.
 */
export async function completionCandidates(
  program: Command,
  terminal: Terminal,
  words: readonly string[],
): Promise<readonly string[]> {
  const typed = words.at(-1) ?? ''
  const { command, option } = contextOf(program, words.slice(0, -1))
  const all =
    option === null
      ? await ofCommand(program, command, typed, terminal)
      : await ofOption(option, terminal)
  return all.filter((word) => word.startsWith(typed))
}

/** What the words before the one to complete lead to. */
interface CompletionContext {
  readonly command: Command
  /** A flag that waits for its value. */
  readonly option: Option | null
}

function contextOf(program: Command, words: readonly string[]): CompletionContext {
  let command = program
  let option: Option | null = null
  for (const word of words) {
    if (option !== null) {
      option = null
      continue
    }
    const found = command.options.find(({ long }) => word === long)
    if (found?.required === true) option = found
    command = command.commands.find((child) => child.name() === word) ?? command
  }
  return { command, option }
}

async function ofCommand(
  program: Command,
  command: Command,
  typed: string,
  terminal: Terminal,
): Promise<readonly string[]> {
  if (typed.startsWith('-')) return [...command.options.flatMap(({ long }) => long ?? []), '--help']
  if (command.commands.length > 0) {
    const names = command
      .createHelp()
      .visibleCommands(command)
      .map((child) => child.name())
    return command === program ? [...names, ...otherCommands] : names
  }
  const [argument] = command.registeredArguments
  if (argument?.argChoices !== undefined) return argument.argChoices
  const takesView = argument?.name() === 'name' || argument?.name() === 'view-name'
  return takesView && !makingCommands.has(command.name()) ? viewNames(terminal) : []
}

async function ofOption(option: Option, terminal: Terminal): Promise<readonly string[]> {
  const { flags, long, argChoices } = option
  // Wallets have names as well.
  if (flags === '--name <view>') return viewNames(terminal)
  return argChoices ?? flagValues[long ?? ''] ?? []
}

async function viewNames(terminal: Terminal): Promise<readonly string[]> {
  try {
    return await (await openProject(terminal)).names()
  } catch (error) {
    if (error instanceof ServiceError) return []
    throw error
  }
}
