/** `viewmesh view`: the commands that build Views. */
import type { Command } from 'commander'
import type { Terminal } from '../cli/terminal.ts'

/** Adds them; what they need is loaded when one is run. */
export function addViewCommands(view: Command, terminal: Terminal): void {
  view
    .command('init')
    .description('Make this folder a project, or add an empty View.')
    .argument('[name]', 'of the View; without it, this folder becomes a project')
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, flags: { json?: boolean }) =>
      (await import('./init.ts')).initView(terminal, name, flags),
    )
  view
    .command('list')
    .description('List the Views of the project, or of the home folder where there is none.')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) =>
      (await import('./list.ts')).printViewList(terminal, flags),
    )
}
