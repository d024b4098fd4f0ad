/**
 * Ends the operator at a named write, for tests of what survives a SIGKILL.
 *
 * `before create Secret` ends it when the bytes of the first such write are about to go out, `after apply
 * StatefulSet 2` when the second has been answered, `after apply Host/status` at a subresource. Verbs are those
 * of `Call`.
 */
import assert from 'node:assert/strict'
import type { Call } from '../../../operator/runtime/client/api-error.ts'
import type { WriteGuard } from '../../../operator/runtime/client/requests.ts'

/** Throws for text of another form. `die` does not return. */
export function dieAt(text: string, die: () => void): WriteGuard {
  const match = /^(before|after) (\w+) (\w+)(?:\/(\w+))?(?: (\d+))?$/.exec(text)
  assert.ok(match, `${text} names no write, as "after apply StatefulSet 2" does`)
  const [, moment, verb, kind, subresource, number = '1'] = match
  let left = Number(number)
  const check = (call: Call): void => {
    const isMeant =
      call.verb === verb && call.type.kind === kind && call.subresource === subresource
    if (!isMeant) return
    left -= 1
    if (left === 0) die()
  }
  return moment === 'before' ? { before: check } : { after: check }
}
