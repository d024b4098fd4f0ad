/** Files that hold a secret: small, and read whole. */
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { ServiceError } from '../../errors.ts'
import { readBounded, readBoundedFile } from '../../read-bounded.ts'
import type { Terminal } from '../cli/terminal.ts'

const maxBytes = 64 * 1024

/** Text of a file; null where there is none. @throws ServiceError `TOOLKIT_INPUT_UNREADABLE` */
export async function readSmallFile(path: string): Promise<string | null> {
  try {
    return (await readBoundedFile(path, maxBytes)).toString()
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(path)
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

/** What a message calls the place of a secret. */
export function secretPlace(path: string): string {
  return path === '-' ? 'standard input' : path
}

async function readStream(stdin: Readable): Promise<string> {
  try {
    return (await readBounded(stdin, maxBytes)).toString()
  } catch (error) {
    throw error instanceof RangeError ? tooLarge('standard input') : error
  }
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
