/** A failure of a command as lines for a person. */
import type { ErrorCode } from '../../../src/errors.ts'
import { type PlainError, toPlainError } from '../../../src/plain-error.ts'

/** What a person does about an answer of the API server, where the operator does something else. */
const remedies: Partial<Record<ErrorCode, string>> = {
  OPERATOR_API_FORBIDDEN:
    'Ask whoever grants rights in this cluster for the one that the message names; docs/kubernetes/plugin.md lists what each command needs.',
  OPERATOR_API_NOT_FOUND: 'Install the CRDs of Viewmesh, or choose another cluster with --context.',
  OPERATOR_API_UNAUTHORIZED: 'Sign in again, as for kubectl.',
  OPERATOR_API_UNREACHABLE: 'Check that kubectl reaches this cluster from here.',
  OPERATOR_API_TIMEOUT: 'Check that kubectl reaches this cluster from here, and try again.',
  OPERATOR_API_CONFLICT: 'Somebody else changed it at the same time: look at it, and try again.',
  OPERATOR_API_EXISTS: 'Somebody else made it at the same time: look at it, and try again.',
}

/** What happened, why, and what to do; of something unforeseen also where. */
export function failureLines(error: unknown): string[] {
  const plain = toPlainError(error)
  const remedy = remedies[plain.code as ErrorCode] ?? plain.remedy
  const known = plain.remedy !== undefined
  return [
    `error: ${plain.message}${plain.code === undefined ? '' : ` (${plain.code})`}`,
    ...causesOf(plain).map(({ message }) => `  because: ${message}`),
    ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
    ...(known ? [] : (plain.stack ?? '').split('\n').slice(1)),
  ]
}

function causesOf({ cause }: PlainError): PlainError[] {
  return cause === undefined ? [] : [cause, ...causesOf(cause)]
}
