/** `viewmesh types`. */
import type { Command } from 'commander'
import type { Terminal } from '../cli/terminal.ts'
import type { TypesFlags } from './types-command.ts'

/** Makes the command what it is; what it needs is loaded when it is run. */
export function addTypesCommand(types: Command, terminal: Terminal): void {
  types
    .argument('[name...]', 'of the Views; without names, all')
    .option(
      '--file <file>',
      'the SDL of a View in place of a project, - for standard input; repeatable',
      append,
    )
    .option('--host <url>', 'a Host that serves the Views, in place of a project')
    .option('--out <file>', 'write it there; without it, it is printed')
    .option('--force', 'replace a file that this command has not written')
    .option('--watch', 'write it again whenever the Views are others, until it is interrupted')
    .option('--json', 'print JSON')
    .action(async (names: readonly string[], flags: TypesFlags) =>
      (await import('./types-command.ts')).writeTypes(terminal, names, flags),
    )
}

function append(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
