/** `viewmesh lens`: the commands for those who write lenses. */
import { type Command, Option } from 'commander'
import type { Terminal } from '../cli/terminal.ts'
import type { DoctorFlags } from './doctor-command.ts'
import type { NewFlags } from './new-command.ts'

/** Adds them; what they need is loaded when one is run. */
export function addLensCommands(lens: Command, terminal: Terminal): void {
  lens
    .command('new')
    .description('Make a project with a lens that builds.')
    .argument('<name>', 'of the lens, and of the folder that is made')
    .addOption(
      new Option('--language <name>', 'what it is written in')
        .choices(['assemblyscript', 'rust'])
        .default('assemblyscript'),
    )
    .option('--json', 'print JSON')
    .action(async (name: string, flags: NewFlags) =>
      (await import('./new-command.ts')).newLens(terminal, name, flags),
    )
  lens
    .command('build')
    .description('Compile the lens of a project to <folder>.wasm, and check that it is one.')
    .argument('[folder]', 'the project; by default the current folder')
    .option('--json', 'print JSON')
    .action(async (folder: string | undefined, flags: { json?: boolean }) =>
      (await import('./build-command.ts')).buildLensProject(terminal, folder, flags),
    )
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
