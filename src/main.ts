/**
 * Start here: `viewmesh <command>`. Each command is loaded only when it is run, so that help and
 * version answer without the libraries behind it.
 */
import process from 'node:process'
import { Command } from 'commander'
import type { AnyTable } from './service/setting.ts'
import { readVersion } from './service/version.ts'

interface CommandEntry {
  readonly name: string
  readonly summary: string
  /** Runs until the program ends. */
  readonly run: (argv: string[]) => Promise<void>
  /** What its help text is made from. */
  readonly settings: () => Promise<AnyTable>
}

const commands: readonly CommandEntry[] = [
  {
    name: 'generator',
    summary: 'Read blocks from an execution node, seal them and spread them to peers.',
    run: async (argv) => (await import('./generator/main.ts')).run(argv),
    settings: async () => (await import('./generator/config.ts')).generatorSettings,
  },
  {
    name: 'host',
    summary: 'Receive sealed blocks from Generators, verify them and serve them over GraphQL.',
    run: async (argv) => (await import('./host/main.ts')).run(argv),
    settings: async () => (await import('./host/config.ts')).hostSettings,
  },
  {
    name: 'devnet',
    summary: 'Run an execution node, a Generator and a Host on this machine.',
    run: async (argv) => (await import('./devnet/main.ts')).run(argv),
    settings: async () => (await import('./devnet/config.ts')).devnetSettings,
  },
]

const helpFlags: readonly string[] = ['--help', '-h']

function createProgram(): Command {
  const program = new Command('viewmesh')
    .description(
      'Indexes an EVM chain into signed records, spreads them peer to peer and serves them.',
    )
    .version(readVersion())
    .helpCommand(false)
    .addHelpText('after', '\nviewmesh <command> --help lists the settings of a command.')
  for (const command of commands) {
    program
      .command(command.name)
      .description(command.summary)
      .usage('[flags]')
      .helpOption(false)
      .allowUnknownOption()
      .argument('[flags...]')
      .action((flags: string[]) => runOrHelp(command, flags))
  }
  return program
}

async function runOrHelp(command: CommandEntry, flags: string[]): Promise<void> {
  if (!flags.some((flag) => helpFlags.includes(flag))) return command.run(flags)
  const { helpText } = await import('./service/help.ts')
  const width = process.stdout.columns ?? 100
  const options = { command: `viewmesh ${command.name}`, summary: command.summary, width }
  process.stdout.write(helpText(options, await command.settings()))
}

await createProgram().parseAsync(process.argv)
