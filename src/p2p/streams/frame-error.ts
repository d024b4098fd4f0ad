/** The error for bytes of a peer that are no frame of their protocol, known by its name. */

/** Name of the errors that `frameError` makes. */
export const frameErrorName = 'RangeFrameError'

/** What a peer sent does not have the form of the protocol. */
export function frameError(message: string): Error {
  const error = new Error(message)
  error.name = frameErrorName
  return error
}
