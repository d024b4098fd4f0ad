/** `viewmesh lens`: the commands for those who write lenses. */
import type { Command } from 'commander'
import type { Terminal } from '../cli/terminal.ts'
import type { DoctorFlags } from './doctor-command.ts'

/** Adds them; what they need is loaded when one is run. */
export function addLensCommands(lens: Command, terminal: Terminal): void {
  lens
    .command('doctor')
    .description('Examine a lens: its ABI, both feeds, nil, arguments, memory, determinism.')
    .argument('<file>', 'the module, .wasm')
    .option('--args <json>', 'its arguments')
    .option('--query <text>', 'of a View: selects the documents of the samples that it is given')
    .option('--json', 'print JSON')
    .action(async (file: string, flags: DoctorFlags) =>
      (await import('./doctor-command.ts')).examineFile(terminal, file, flags),
    )
}
