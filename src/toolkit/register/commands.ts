/** `viewmesh register`: a node on the registry chain. */
import type { Command } from 'commander'
import type { Terminal } from '../cli/terminal.ts'
import type { RegisterFlags } from './register-node.ts'

/** Adds its flags; what it needs is loaded when it is run. */
export function addRegisterCommand(register: Command, terminal: Terminal): void {
  register
    .requiredOption('--rpc <url>', 'JSON-RPC of the registry chain')
    .option('--node <url>', 'the health port of the node; default http://127.0.0.1:8080')
    .option('--wallet <name>', 'which wallet; without it, "default"')
    .option('--key-file <file>', 'a private key in hex in place of a wallet; - for standard input')
    .option('--password-file <file>', 'holds the password of the wallet')
    .option('--chain-id <number>', 'the chain that is signed for; else as the node of --rpc says')
    .option('--max-fee <amount>', 'the most that it may cost, in SHNZ; default 0.1')
    .option('--allow-private', 'register a node whose address is one of a private network')
    .option('--yes', 'send it; without this the command only says what it would send')
    .option('--json', 'print JSON')
    .action(async (flags: RegisterFlags) =>
      (await import('./register-node.ts')).registerNode(terminal, flags),
    )
}
