/** `--args`: a JSON object whose values are all strings. */
import { messageOf, type ServiceError } from '../../errors.ts'
import { isObject } from '../../json-object.ts'
import { viewLimits } from '../../views/view.ts'
import { checkSize } from '../../views/wire-reader.ts'
import { usageError } from '../cli/exit-code.ts'
import type { LensArguments } from '../project/view-content.ts'

/**
 * The arguments of a lens; null where none were given.
 * @throws ServiceError `TOOLKIT_USAGE_INVALID`, `VIEWS_TOO_LARGE`
 */
export function parseLensArguments(text: string | undefined): LensArguments | null {
  if (text === undefined) return null
  checkSize('--args', Buffer.byteLength(text), viewLimits.args)
  const value = parseJson(text)
  if (!isObject(value)) throw invalid('it is not an object')
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string')
  if (wrong !== undefined) throw invalid(`the value of ${wrong[0]} is not a string`)
  return value as LensArguments
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(messageOf(error))
  }
}

function invalid(what: string): ServiceError {
  return usageError(
    `invalid --args JSON: ${what}`,
    'Make every value a string; an ABI is its JSON in a string: --args "$(jq -c \'{abi: tojson}\' abi.json)".',
  )
}
