/** A query or an SDL: typed in, in a file, or on standard input. */
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { readBounded } from '../../read-bounded.ts'
import { usageError } from '../cli/exit-code.ts'
import type { Terminal } from '../cli/terminal.ts'

/** More than anything that is read so may have. */
const maxBytes = 4 * 1024 * 1024

/** @throws ServiceError `TOOLKIT_USAGE_INVALID` unless exactly one of both is given. */
export async function readTypedPart(
  terminal: Terminal,
  what: 'query' | 'SDL',
  { text, file }: { readonly text: string | undefined; readonly file: string | undefined },
): Promise<string> {
  if ((text === undefined) === (file === undefined))
    throw usageError(
      `give the ${what} either as an argument or with --file`,
      `--file - reads the ${what} from standard input.`,
    )
  return text ?? readTextFile(terminal, file ?? '')
}

/** The text of a file, `-` for standard input. @throws ServiceError `TOOLKIT_INPUT_UNREADABLE` */
export async function readTextFile({ cwd, stdin }: Terminal, file: string): Promise<string> {
  try {
    const source = file === '-' ? stdin : createReadStream(resolve(cwd, file))
    return new TextDecoder('utf-8', { fatal: true }).decode(await readBounded(source, maxBytes))
  } catch (cause) {
    throw new ServiceError('TOOLKIT_INPUT_UNREADABLE', `${file} cannot be read as text`, {
      remedy: 'Name a file of UTF-8 that is there, or - for standard input.',
      cause,
    })
  }
}
