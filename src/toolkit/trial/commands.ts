/** `viewmesh view test`. */
import { type Command, InvalidArgumentError } from 'commander'
import type { Terminal } from '../cli/terminal.ts'
import type { TestFlags } from './test-command.ts'

/** Adds it; what it needs is loaded when it is run. */
export function addTrialCommands(view: Command, terminal: Terminal): void {
  withBlocks(view.command('test'))
    .description('Run a View without any server, and check its rows against its SDL.')
    .argument('<name>', 'of the View')
    .option('--expect <file>', 'rows that have to come out, as JSON')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: TestFlags) =>
      (await import('./test-command.ts')).testView(terminal, name, flags),
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
