/** A failure as readable text: what happened, its facts, its causes and what to do. */
import { type PlainError, toPlainError } from '../plain-error.ts'

/** Several lines; the stack is shown only for unexpected errors. */
export function failureText(error: unknown): string {
  const plain = toPlainError(error)
  const facts = Object.entries(plain.facts ?? {}).map(([name, value]) => `  ${name}: ${value}`)
  // What has a code of ours has facts, if only none: it was foreseen, with a remedy or without.
  const unforeseen = plain.facts === undefined && plain.stack !== undefined
  return [
    `error: ${plain.message}`,
    ...facts,
    ...causesOf(plain).map((cause) => `  because: ${cause.message}`),
    ...(plain.remedy === undefined ? [] : [`What to do: ${plain.remedy}`]),
    ...(unforeseen ? [plain.stack] : []),
  ].join('\n')
}

function causesOf(error: PlainError): PlainError[] {
  return error.cause === undefined ? [] : [error.cause, ...causesOf(error.cause)]
}
