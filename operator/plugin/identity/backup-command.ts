/** `kubectl viewmesh backup`: writes the identity of a resource to a file that nobody else may read. */
import { existsSync } from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { messageOf, ServiceError } from '../../../src/errors.ts'
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import { describeResource, parseResourceName } from '../cluster/resources.ts'
import type { Output } from '../text/output.ts'
import { backupText, type IdentityBackup } from './backup-file.ts'
import { readStanding } from './standing-identity.ts'
import { takeBackup } from './take-backup.ts'

export interface BackupFlags {
  /** Where to write; `-` for standard output. */
  readonly filename: string
  /** For a pod that mounts claims of replicas that do not run. */
  readonly image?: string
}

/** Throws PLUGIN_FILE_UNUSABLE where the file exists already, or cannot be written. */
export async function backupCommand(
  access: Pick<ClusterAccess, 'api' | 'exec' | 'namespace'>,
  name: string,
  { filename, image }: BackupFlags,
  output: Output,
  signal?: AbortSignal,
): Promise<0> {
  const isPipe = filename === '-'
  if (isPipe && output.isTerminal) throw unwritable('standard output', 'it is a terminal')
  if (!isPipe && existsSync(filename)) throw unwritable(filename, 'it exists already')
  const standing = await readStanding(access.api, access.namespace, parseResourceName(name))
  const { backup, left } = await takeBackup(access, standing, { image, nowMs: Date.now(), signal })
  if (isPipe) await output.raw(backupText(backup))
  else await writeSecretly(filename, backupText(backup))
  for (const line of contentLines(backup, isPipe ? 'standard output' : filename)) output.note(line)
  for (const line of left) output.note(line)
  return 0
}

function contentLines(backup: IdentityBackup, place: string): string[] {
  const { kind, name, namespace, replicas } = backup
  const named = describeResource({ kind, metadata: { name, namespace } })
  return [
    `${place} holds the identity of ${named}: the keys of its keyring and the key files of its volumes.`,
    ...replicas.map(
      ({ ordinal, identity, peerID }) =>
        `  replica ${ordinal}: signs as ${identity}, peer ID ${peerID ?? 'not known yet'}`,
    ),
    'It is a SECRET: whoever has it can sign and run as these replicas. Keep it encrypted and away from the cluster.',
  ]
}

/** Readable by its owner alone, and never over another file. */
async function writeSecretly(path: string, text: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } catch (error) {
      await unlink(path)
      throw error
    } finally {
      await file.close()
    }
  } catch (error) {
    throw unwritable(path, messageOf(error))
  }
}

function unwritable(path: string, why: string): ServiceError {
  return new ServiceError('PLUGIN_FILE_UNUSABLE', `the backup is not written to ${path}: ${why}`, {
    remedy: 'Name another file, or - to hand it to another program.',
  })
}
