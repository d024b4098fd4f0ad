/** The commands of `kubectl viewmesh` with their flags, which are called as those of kubectl. */
import type { Readable } from 'node:stream'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { readVersion } from '../../src/service/version.ts'
import { claimsCommand } from './claims/claims-command.ts'
import { deleteClaims } from './claims/delete-claims.ts'
import type { ClusterAccess, ClusterFlags } from './cluster/cluster-access.ts'
import { failureLines } from './cluster/failure-lines.ts'
import { type BackupFlags, backupCommand } from './identity/backup-command.ts'
import { readBackup } from './identity/read-backup.ts'
import { type RestoreFlags, restoreCommand } from './identity/restore-command.ts'
import { type LogsFlags, logsCommand } from './logs/logs-command.ts'
import { type ReportFlags, reportCommand } from './report/report-command.ts'
import { type StatusFlags, statusCommand } from './status/status-command.ts'
import type { Output } from './text/output.ts'

/** What the commands talk to. */
interface CommandLineParts {
  readonly open: (flags: ClusterFlags) => Promise<ClusterAccess>
  readonly output: Output
  readonly stdin: Readable
  /** Ends what runs, as Ctrl-C does. */
  readonly signal: AbortSignal
}

/** 0: done, and what was asked about is well. 1: it is not, or not all was done. 2: it failed, and says why. */
type ExitCode = 0 | 1 | 2

/** Runs a command; `args` are what follows `kubectl viewmesh`. */
export async function runCommandLine(
  args: readonly string[],
  parts: CommandLineParts,
): Promise<ExitCode> {
  const ended = { code: 0 as ExitCode }
  const program = createProgram(parts, ended)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return ended.code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (parts.signal.aborted) return 2
    for (const line of failureLines(error)) parts.output.note(line)
    return 2
  }
}

type Run<F> = (access: ClusterAccess, flags: F, args: readonly string[]) => Promise<ExitCode>

/** Adds a command to another, with the flags of kubectl that say which cluster and namespace. */
type Add = <F extends object>(parent: Command, usage: string, run: Run<F>) => Command

function createProgram(parts: CommandLineParts, ended: { code: ExitCode }): Command {
  const { output } = parts
  const root = new Command('kubectl viewmesh')
    .description('Looks after Generators and Hosts in a Kubernetes cluster.')
    .usage('COMMAND')
    .version(readVersion())
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => writeLines(text, output.line),
      writeErr: (text) => writeLines(text, output.note),
    })
    .exitOverride()
    .addHelpText(
      'after',
      '\nEnds with 0 where all is well, 1 where something is not ready or not done, 2 where it failed.',
    )
  const add: Add = <F extends object>(parent: Command, usage: string, run: Run<F>) =>
    parent
      .command(usage)
      .option('-n, --namespace <name>', 'of the resources; default is that of the context')
      .option('--context <name>', 'of the kubeconfig; default is the current one')
      .option('--kubeconfig <file>', 'default is KUBECONFIG, or the file at home')
      .action(async (...given: unknown[]) => {
        const command = given.at(-1) as Command
        const flags = command.optsWithGlobals<F & ClusterFlags>()
        const access = await parts.open(flags)
        try {
          ended.code = await run(access, flags, command.args)
        } finally {
          await access.close()
        }
      })
  addLooking(root, add, parts)
  addIdentity(root, add, parts)
  addClaims(root, add, parts)
  return root
}

/** What only reads. */
function addLooking(root: Command, add: Add, { output, signal }: CommandLineParts): void {
  add<StatusFlags>(root, 'status', (access, flags, [name]) =>
    statusCommand(access, name, flags, output),
  )
    .description('Show what holds of one resource, or of all, and what does not.')
    .argument('[kind/name]', 'such as host/mainnet')
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-o, --output <format>', 'json', oneOf('json'))
  add<LogsFlags>(root, 'logs', (access, flags, [name = '']) =>
    logsCommand(access, name, flags, output, signal),
  )
    .description('Show the logs of all replicas, each line with its pod.')
    .argument('<kind/name>', 'such as host/mainnet')
    .option('-f, --follow', 'go on until the pods end, or Ctrl-C')
    .option('-p, --previous', 'of the containers before their last restart')
    .option('--since <duration>', 'not older than this, such as 15m or 2h')
    .option('--tail <lines>', 'newest lines of each replica', toLines, 200)
  add<ReportFlags>(root, 'report', (access, flags) => reportCommand(access, flags, output))
    .description('Write a folder for a bug report: objects, Events, logs, and nothing of Secrets.')
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-f, --filename <folder>', 'a new folder; default has the time in its name')
    .option('--operator-namespace <name>', 'of the operator; default is to look in all')
}

function addIdentity(root: Command, add: Add, { output, stdin, signal }: CommandLineParts): void {
  add<BackupFlags>(root, 'backup', (access, flags, [name = '']) =>
    backupCommand(access, name, flags, output, signal),
  )
    .description('Write the identity of a resource to a file, which is a secret.')
    .argument('<kind/name>', 'such as host/mainnet')
    .requiredOption('-f, --filename <file>', 'a new file, with mode 0600; - for standard output')
    .option('--image <image>', 'for a pod that mounts the keys of replicas that do not run')
  add<RestoreFlags>(root, 'restore', (access, flags, [file = '']) =>
    restoreCommand(access, { file, stdin }, flags, output, signal),
  )
    .description('Make what is missing of an identity, from a backup. Writes over nothing.')
    .argument('<file>', 'what backup wrote; - for standard input')
    .option('--image <image>', 'for the pods that write to the volumes')
    .option('--storage-class <name>', 'of volumes that are made')
}

function addClaims(root: Command, add: Add, { output, stdin }: CommandLineParts): void {
  const claims = add(root, 'claims', (access, _flags, [name]) =>
    claimsCommand(access, name, output),
  )
    .description('List the volumes of Generators and Hosts, and which of them nothing uses.')
    .argument('[kind/name]', 'such as host/mainnet')
  add<DeleteFlags>(claims, 'delete', async (access, flags, targets) => {
    const backups = []
    for (const file of flags.backup) backups.push(await readBackup(file, stdin))
    const { yesDeleteIdentity } = flags
    return await deleteClaims(access, { targets, backups, yesDeleteIdentity }, output)
  })
    .description('Delete claims that nothing uses; one with an identity only with its backup.')
    .argument('<claim...>', 'names, or kind/name for those of a resource without an identity')
    .option('--backup <file>', 'a backup of the identity that goes; repeatable', append, [])
    .option('--yes-delete-identity <claim>', 'gives the identity on it up; repeatable', append, [])
}

interface DeleteFlags {
  readonly backup: readonly string[]
  readonly yesDeleteIdentity: readonly string[]
}

function writeLines(text: string, write: (line: string) => void): void {
  for (const line of text.replace(/\n$/, '').split('\n')) write(line)
}

function append(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

const maxLines = 1_000_000

function toLines(value: string): number {
  const lines = /^[1-9]\d{0,6}$/.test(value) ? Number(value) : 0
  if (lines > 0 && lines <= maxLines) return lines
  throw new InvalidArgumentError(`It is a number from 1 to ${maxLines}.`)
}

function oneOf(...choices: readonly string[]): (value: string) => string {
  return (value) => {
    if (choices.includes(value)) return value
    throw new InvalidArgumentError(`It is ${choices.join(' or ')}.`)
  }
}
