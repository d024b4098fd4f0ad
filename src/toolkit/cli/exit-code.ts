/** How a command ends: scripts tell by the exit code whether to try again. */
import { type ErrorCode, ServiceError } from '../../errors.ts'

/** 0 done, 1 refused or a test failed, 2 wrong usage, 3 a Host, node or chain was not reached, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 130

/** The exit code of a failure, which follows from its error code alone. */
export function exitCodeOf(error: unknown): ExitCode {
  if (!(error instanceof ServiceError)) return 1
  if (error.code === usageCode) return 2
  return /_(?:UNREACHABLE|TIMEOUT)$/.test(error.code) ? 3 : 1
}

const usageCode: ErrorCode = 'TOOLKIT_USAGE_INVALID'

/** A flag or an argument that cannot be meant; the command's usage line is printed below it. */
export function usageError(message: string, remedy: string): ServiceError {
  return new ServiceError(usageCode, message, { remedy })
}
