/** Files that hold a secret: small, and read whole. */
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { ServiceError } from '../../errors.ts'
import type { Terminal } from '../cli/terminal.ts'

const maxBytes = 64 * 1024

/** Text of a file; null where there is none. @throws ServiceError `TOOLKIT_INPUT_UNREADABLE` */
export async function readSmallFile(path: string): Promise<string | null> {
  try {
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes + 1))
      if (bytesRead > maxBytes) throw tooLarge(path)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw unreadable(path, cause)
  }
}

/** Text of a file that has to be there, or of standard input for `-`. @throws ServiceError `TOOLKIT_INPUT_UNREADABLE` */
export async function readSecretText(
  path: string,
  { cwd, stdin }: Pick<Terminal, 'cwd' | 'stdin'>,
): Promise<string> {
  if (path === '-') return await readStream(stdin)
  const text = await readSmallFile(resolve(cwd, path))
  if (text === null) throw unreadable(path, new Error('there is no such file'))
  return text
}

async function readStream(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) throw tooLarge('standard input')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function tooLarge(place: string): ServiceError {
  return new ServiceError(
    'TOOLKIT_INPUT_UNREADABLE',
    `${place} has more than ${maxBytes} bytes, which no secret needs`,
    { remedy: 'Name the file that holds the key, the password or the keystore, and nothing else.' },
  )
}

function unreadable(path: string, cause: unknown): ServiceError {
  const remedy = 'Check the path and its permissions.'
  return new ServiceError('TOOLKIT_INPUT_UNREADABLE', `${path} cannot be read`, { remedy, cause })
}
