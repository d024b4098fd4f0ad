/**
 * Start here: `viewmesh <command>`. Each command is loaded only when it is run, so that help and
 * version need none of the libraries behind it.
 */
import process from 'node:process'
import { Command, type CommanderError, InvalidArgumentError } from 'commander'
import type { AnyTable } from './service/settings/setting.ts'
import { readVersion } from './service/version.ts'
import { completeCommand, toolkitCommands } from './toolkit/toolkit-commands.ts'
import type { VerifyFlags } from './toolkit/verify-command.ts'

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
    run: async (argv) => (await import('./generator/main.ts')).runGenerator(argv),
    settings: async () => (await import('./generator/config.ts')).generatorSettings,
  },
  {
    name: 'host',
    summary: 'Receive sealed blocks from Generators, verify them and serve them over GraphQL.',
    run: async (argv) => (await import('./host/main.ts')).runHost(argv),
    settings: async () => (await import('./host/config.ts')).hostSettings,
  },
  {
    name: 'devnet',
    summary: 'Run an execution node, a Generator and a Host on this machine.',
    run: async (argv) => (await import('./devnet/main.ts')).runDevnet(argv),
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
  for (const [name, summary] of Object.entries(toolkitCommands))
    program.command(name).description(summary).usage('<command>')
  addVerify(program)
  // After its commands, which would inherit them.
  return program
    .exitOverride(endUsage)
    .showHelpAfterError('Usage: viewmesh [options] [command]\nviewmesh --help lists the commands.')
}

/** The one command that is not a long-running program: it takes flags instead of settings, and exits. */
function addVerify(program: Command): void {
  program
    .command('verify')
    .description('Check the response of a Host against the identities of Generators.')
    .argument('<file>', 'the response of a Host, as JSON; - for standard input')
    .option(
      '--identity <hex>',
      'a Generator that is accepted, .identity of its /health; repeatable',
      append,
      [],
    )
    .option('--minimum <number>', 'how many of these must have signed', toCount, 1)
    .option('--json', 'one JSON object a document instead of a sentence')
    .addHelpText(
      'after',
      '\nEnds with 0 where every document with _proof is proven, 1 where one is not, 2 where it cannot check.',
    )
    .exitOverride(endUsage)
    .showHelpAfterError('Usage: viewmesh verify [options] <file>')
    .action(async (file: string, flags: VerifyFlags) => {
      const loaded = await toolkitPart(() => import('./toolkit/verify-command.ts'))
      if (loaded === null) return
      const { exitCode, stdout, stderr } = await loaded.verifyCommand(file, flags, process.stdin)
      process.stdout.write(stdout)
      process.stderr.write(stderr)
      process.exitCode = exitCode
    })
}

/** Help and version were asked for; anything else is wrong usage. */
function endUsage({ exitCode }: CommanderError): never {
  process.exit(exitCode === 0 ? 0 : 2)
}

function append(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

function toCount(value: string): number {
  if (/^[1-9][0-9]{0,3}$/.test(value)) return Number(value)
  throw new InvalidArgumentError('It is a number from 1 to 9999.')
}

async function runOrHelp(command: CommandEntry, flags: string[]): Promise<void> {
  if (!flags.some((flag) => helpFlags.includes(flag))) return command.run(flags)
  const { helpText } = await import('./service/settings/help.ts')
  const width = process.stdout.columns || 100
  const options = { command: `viewmesh ${command.name}`, summary: command.summary, width }
  process.stdout.write(helpText(options, await command.settings()))
}

/** Flags of the toolkit are its own: what is `--version` here is the version of a View there. */
async function run(argv: readonly string[]): Promise<void> {
  const [command = ''] = argv
  if (command !== completeCommand && !Object.hasOwn(toolkitCommands, command))
    return void (await createProgram().parseAsync(argv, { from: 'user' }))
  await (await toolkitPart(() => import('./toolkit/main.ts')))?.runToolkitProgram(argv)
}

/** Images of Generator and Host go without the toolkit: null there, and said. */
async function toolkitPart<T>(load: () => Promise<T>): Promise<T | null> {
  try {
    return await load()
  } catch (error) {
    const { code, url } = Object(error)
    if (code !== 'ERR_MODULE_NOT_FOUND' || !String(url).includes('/src/toolkit/')) throw error
    process.stderr.write(
      'viewmesh: the toolkit is not part of this image: run the command in the image viewmesh-toolkit.\n',
    )
    process.exitCode = 2
    return null
  }
}

await run(process.argv.slice(2))
