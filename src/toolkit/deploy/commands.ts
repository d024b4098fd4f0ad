/** `viewmesh view deploy` and `view status`. */
import type { Command } from 'commander'
import type { Terminal } from '../cli/terminal.ts'
import type { DeployFlags } from './deploy-flags.ts'
import type { DeploymentStatusFlags } from './status-command.ts'

/** Adds them; what they need is loaded when one is run. */
export function addDeployCommands(view: Command, terminal: Terminal): void {
  view
    .command('deploy')
    .description('Deploy a View to a Host, or register it on the registry chain.')
    .argument('<view-name>', 'the View')
    .requiredOption('--target <target>', 'local, devnet or mainnet')
    .option('--host <url>', 'local: a running Host; default http://127.0.0.1:9181')
    .option('--admin-token-file <file>', 'local: its token; else HOST_ADMIN_TOKEN is taken')
    .option('--rpc <url>', 'devnet: JSON-RPC of the registry chain; required')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: DeployFlags) =>
      (await import('./deploy-command.ts')).deployView(terminal, name, flags),
    )
  view
    .command('status')
    .description('Show where Views were deployed, and how they stand there.')
    .argument('[view-name]', 'the View; without it, all of the project')
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, flags: DeploymentStatusFlags) =>
      (await import('./status-command.ts')).printStatus(terminal, name, flags),
    )
}
