/** Reads backups from files. */
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { ServiceError } from '../../../src/errors.ts'
import { type IdentityBackup, maxBackupBytes, parseBackup } from './backup-file.ts'

/** The backup in a file, or on `stdin` where its name is `-`. Throws PLUGIN_BACKUP_UNUSABLE, PLUGIN_FILE_UNUSABLE. */
export async function readBackup(name: string, stdin: Readable): Promise<IdentityBackup> {
  const source = name === '-' ? 'standard input' : name
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of name === '-' ? stdin : createReadStream(name)) {
      bytes += piece.length
      if (bytes > maxBackupBytes) break
      pieces.push(Buffer.from(piece))
    }
  } catch (cause) {
    throw unreadable(source, 'cannot be read', cause)
  }
  if (bytes > maxBackupBytes) throw unreadable(source, `has more than ${maxBackupBytes} bytes`)
  return await parseBackup(Buffer.concat(pieces).toString('utf8'), source)
}

function unreadable(source: string, what: string, cause?: unknown): ServiceError {
  return new ServiceError('PLUGIN_FILE_UNUSABLE', `${source} ${what}`, {
    remedy: 'Name a file that kubectl viewmesh backup wrote, or - for standard input.',
    cause,
  })
}
