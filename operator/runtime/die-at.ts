/**
 * For tests of what survives a SIGKILL: ends the process at a named write. Nothing else uses it.
 *
 * `before create Secret` ends it when the bytes of the first such write are about to go out, `after apply
 * StatefulSet 2` when the second has been answered, `after apply Host/status` at a subresource. Verbs are those
 * of `Call`.
 */
import { ServiceError } from '../../src/errors.ts'
import type { Call } from './client/api-error.ts'
import type { WriteGuard } from './client/requests.ts'

/** Throws CONFIG_INVALID for text of another form. `die` does not return. */
export function dieAt(text: string, die: () => void): WriteGuard {
  const match = /^(before|after) (\w+) (\w+)(?:\/(\w+))?(?: (\d+))?$/.exec(text)
  if (match === null) {
    throw new ServiceError('CONFIG_INVALID', `${text} names no write to end at`, {
      remedy: 'Write it as "before create Secret" or "after apply StatefulSet 2".',
    })
  }
  const [, moment, verb, kind, subresource, number = '1'] = match
  let left = Number(number)
  const look = (call: Call): void => {
    const isMeant =
      call.verb === verb && call.type.kind === kind && call.subresource === subresource
    if (!isMeant) return
    left -= 1
    if (left === 0) die()
  }
  return moment === 'before' ? { before: look } : { after: look }
}
