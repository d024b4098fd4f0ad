/** `viewmesh wallet`: the key with which Views are registered. */
import type { Command } from 'commander'
import type { Terminal } from '../cli/terminal.ts'
import type { WalletFlags } from './make-wallet.ts'

/** Adds them; what they need is loaded when one is run. */
export function addWalletCommands(wallet: Command, terminal: Terminal): void {
  withFlags(wallet.command('generate'))
    .description('Make a key; its mnemonic is shown once, on a terminal only.')
    .action(async (flags: WalletFlags) =>
      (await import('./make-wallet.ts')).generateWallet(terminal, flags),
    )
  withFlags(wallet.command('import'))
    .description(
      'Take over a key: a keystore, a private key or a mnemonic. Never an argument: others see those.',
    )
    .option('--keystore <file>', 'a keystore of version 3, as those of Foundry and geth')
    .option('--key-file <file>', 'a private key in hex; - for standard input')
    .option('--mnemonic-file <file>', 'a mnemonic; - for standard input')
    .action(async (flags: WalletFlags) =>
      (await import('./make-wallet.ts')).importWallet(terminal, flags),
    )
  withFlags(wallet.command('inspect'))
    .description('Show the address of a wallet, and where its file is.')
    .action(async (flags: WalletFlags) =>
      (await import('./make-wallet.ts')).inspectWallet(terminal, flags),
    )
}

function withFlags(command: Command): Command {
  return command
    .option('--json', 'print JSON')
    .option('--name <wallet>', 'which wallet; without it, "default"')
    .option(
      '--password-file <file>',
      'holds its password; without it, VIEWMESH_WALLET_PASSWORD or a question',
    )
}
