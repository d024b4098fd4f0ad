/** `viewmesh view deploy` and `view status`. */
import type { Command } from 'commander'
import { defaultHostUrl } from '../cli/default-host.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { DeployFlags } from './deploy-flags.ts'
import type { DeploymentStatusFlags } from './status-command.ts'

const cometHelp =
  'devnet: consensus RPC of the chain, which says why a View was refused; else REGISTRY_RPC_URL'

/** Adds them; what they need is loaded when one is run. */
export function addDeployCommands(view: Command, terminal: Terminal): void {
  view
    .command('deploy')
    .description('Deploy a View to a Host, or register it on the registry chain.')
    .argument('<view-name>', 'the View')
    .requiredOption('--target <target>', 'local, devnet or mainnet')
    .option('--host <url>', `local: a running Host; default ${defaultHostUrl}`)
    .option('--admin-token-file <file>', 'local: its token; else HOST_ADMIN_TOKEN is taken')
    .option('--rpc <url>', 'devnet: JSON-RPC of the registry chain; required')
    .option('--comet <url>', cometHelp)
    .option('--chain-id <number>', 'devnet: the chain that is signed for; else as the node says')
    .option('--max-fee <amount>', 'devnet: the most that it may cost, in SHNZ; default 0.1')
    .option('--wallet <name>', 'devnet: which wallet signs; else VIEWMESH_PRIVATE_KEY, "default"')
    .option('--key-file <file>', 'devnet: a private key to sign with; - for standard input')
    .option('--password-file <file>', 'devnet: the password of the wallet')
    .option(
      '--dry-run',
      'devnet: show size, gas, fee and balance, also of --send, and send nothing',
    )
    .option('--yes', 'devnet: do not ask')
    .option('--prepare <file>', 'devnet: sign, write the transaction to a file, and send nothing')
    .option('--send <file>', 'devnet: send what was prepared; twice is once')
    .option(
      '--view-file <file>',
      'devnet: the View as a file of HOST_VIEWS_DIR, for --prepare and --send without a project',
    )
    .option('--report <file>', 'devnet: with --view-file and --send: write what came of it as JSON')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: DeployFlags) =>
      (await import('./deploy-command.ts')).deployView(terminal, name, flags),
    )
  view
    .command('status')
    .description('Show where Views were deployed, and how they stand there.')
    .argument('[view-name]', 'the View; without it, all of the project')
    .option('--host <url>', 'the Host that is asked, in place of those that are recorded')
    .option('--rpc <url>', 'the JSON-RPC that is asked of its chain, in place of what is recorded')
    .option('--comet <url>', cometHelp)
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, flags: DeploymentStatusFlags) =>
      (await import('./status-command.ts')).printStatus(terminal, name, flags),
    )
}
