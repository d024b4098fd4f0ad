/** The toolkit: `viewmesh view`, `lens`, `types`, `wallet` and more. Each command loads what it needs when it is run. */
import { Command, CommanderError } from 'commander'
import { type ExitCode, exitCodeOf } from './cli/exit-code.ts'
import { boundedFailure, remark } from './cli/print.ts'
import type { Terminal } from './cli/terminal.ts'
import { addCompletionCommands } from './completion/commands.ts'
import { addDeployCommands } from './deploy/commands.ts'
import { addDoctorCommand } from './doctor/commands.ts'
import { addLensCommands } from './lens/commands.ts'
import { addRegisterCommand } from './register/commands.ts'
import { toolkitCommands } from './toolkit-commands.ts'
import { addTrialCommands } from './trial/commands.ts'
import { addTypesCommand } from './typescript/commands.ts'
import { addViewCommands } from './views/commands.ts'
import { addWalletCommands } from './wallet/commands.ts'

/** Runs one command, as in `['view', 'list']`, and returns how it ended. What it has to say is printed. */
export async function runToolkit(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const program = createToolkit(terminal)
  let running = program
  program.hook('preAction', (_program, command) => {
    running = command
  })
  for (const command of everyCommand(program))
    command.exitOverride((error) => {
      running = command
      throw error
    })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return terminal.signal.aborted ? 130 : 0
  } catch (error) {
    return failed(error, running, terminal)
  }
}

/** The whole tree of commands, for running, for completion and for checking command lines. */
export function createToolkit(terminal: Terminal): Command {
  const program = new Command('viewmesh')
    .helpCommand(false)
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      // Printed by `failed`, with the usage line.
      outputError: () => undefined,
      getOutHelpWidth: () => terminal.stdout.columns || 100,
      getErrHelpWidth: () => terminal.stderr.columns || 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
  const group = (name: keyof typeof toolkitCommands): Command =>
    program.command(name).description(toolkitCommands[name]).helpCommand(false)
  const view = group('view')
  addViewCommands(view, terminal)
  addTrialCommands(view, terminal)
  addLensCommands(group('lens'), terminal)
  addDeployCommands(view, terminal)
  addWalletCommands(group('wallet'), terminal)
  addDoctorCommand(group('doctor'), terminal)
  addCompletionCommands(group('completion'), program, terminal)
  addRegisterCommand(group('register'), terminal)
  addTypesCommand(group('types'), terminal)
  return program
}

/** A command and all below it. */
export function* everyCommand(command: Command): Generator<Command> {
  yield command
  for (const child of command.commands) yield* everyCommand(child)
}

function failed(error: unknown, running: Command, terminal: Terminal): ExitCode {
  if (terminal.signal.aborted) return 130
  if (!(error instanceof CommanderError)) {
    const exitCode = exitCodeOf(error)
    remark(terminal, boundedFailure(error))
    if (exitCode === 2) terminal.stderr.write(usageLine(running))
    return exitCode
  }
  if (error.exitCode === 0) return 0
  // Where a command is missing the whole help was printed.
  if (error.code !== 'commander.help')
    remark(terminal, `${error.message}\n${usageLine(running)}`.trimEnd())
  return 2
}

function usageLine(command: Command): string {
  return `Usage: ${command.createHelp().commandUsage(command)}\n`
}
