/** `viewmesh view test` and `view dev`. */
import { type Command, InvalidArgumentError } from 'commander'
import type { Terminal } from '../cli/terminal.ts'
import type { DevFlags } from './dev-command.ts'
import type { TestFlags } from './test-command.ts'

/** Adds them; what they need is loaded when one is run. */
export function addTrialCommands(view: Command, terminal: Terminal): void {
  withBlocks(view.command('test'))
    .description('Run a View without any server, and check its rows against its SDL.')
    .argument('<name>', 'of the View')
    .option('--expect <file>', 'rows that have to come out, as JSON')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: TestFlags) =>
      (await import('./test-command.ts')).testView(terminal, name, flags),
    )
  withBlocks(view.command('dev'))
    .description('Test a View whenever its files change; with --host, keep it deployed as it is.')
    .argument('<name>', 'of the View')
    .option('--expect <file>', 'rows that have to come out, as JSON')
    .option('--host <url>', 'a Host to which it is deployed in the place of its former version')
    .option('--admin-token-file <file>', 'the token of that Host; else HOST_ADMIN_TOKEN is taken')
    .action(async (name: string, flags: DevFlags) =>
      (await import('./dev-command.ts')).developView(terminal, name, flags),
    )
}

/** The flags that say which blocks a View is run on. */
function withBlocks(command: Command): Command {
  return command
    .option('--fixture <file>', 'blocks of your own, as JSON; without it, samples that ship')
    .option('--from <url>', 'the newest blocks of a running Host')
    .option('--blocks <n>', 'how many blocks --from reads, 1 to 1000; default 10', toBlocks)
}

function toBlocks(value: string): number {
  if (/^(?:[1-9][0-9]{0,2}|1000)$/.test(value)) return Number(value)
  throw new InvalidArgumentError('It is a number from 1 to 1000.')
}
