/** `viewmesh doctor`. */
import type { Command } from 'commander'
import { defaultHostUrl } from '../cli/default-host.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { DoctorOptions } from './doctor-command.ts'

/** Makes the command what it is; what it needs is loaded when it is run. */
export function addDoctorCommand(doctor: Command, terminal: Terminal): void {
  doctor
    .option('--host <url>', `a Host to ask; default ${defaultHostUrl}`)
    .option('--json', 'print JSON')
    .action(async (options: DoctorOptions) =>
      (await import('./doctor-command.ts')).examineMachine(terminal, options),
    )
}
