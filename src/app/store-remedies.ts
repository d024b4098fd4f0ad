/** What to do about a store that cannot be used: errors of the store name settings of our programs, which no application has. */
import { ServiceError } from '../errors.ts'

const remedies: Readonly<Record<string, string>> = {
  STORE_LOCKED: 'End the other program, or give this application another `path`.',
  STORE_FULL:
    'Free space on its disk, then start again: everything that was stored is kept. With a lower `maxBytes` the rows of the lowest blocks go earlier.',
  STORE_DAMAGED:
    'Put a whole copy in its place, or choose an empty folder as `path`: the rows are fetched again.',
  STORE_FOREIGN: 'Choose another `path`, or the `network` of this store.',
  STORE_FORMAT_UNKNOWN:
    'Use the version of the package that made it, or choose an empty folder as `path`: the rows are fetched again.',
  STORE_PATH_UNUSABLE:
    'Give this user read and write access to it, or choose another folder as `path`.',
}

/** An error of the store with the remedy of an application; any other error as it is. */
export function withAppRemedy(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  const { code, message, facts } = error
  const remedy = remedies[code]
  if (remedy === undefined || isOfAnyProgram(facts)) return error
  return new ServiceError(code, message, { facts, remedy, cause: error })
}

/** Whether the store itself knows what an application can do: the owner of files, its lock, and the program that it belongs to. */
function isOfAnyProgram(facts: ServiceError['facts']): boolean {
  return 'owner' in facts || 'file' in facts || facts['expected'] === 'app'
}
