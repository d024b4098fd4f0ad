/**
 * Request errors (https://spec.graphql.org/October2021/#sec-Errors.Request-errors): what is wrong with a
 * document or its variables. A message quotes what was sent, but not all of it.
 */
import { GraphQLError } from 'graphql'

/** Everything that is wrong with a request, found before it is executed. */
export type RequestErrors = readonly GraphQLError[]

/** Whether the request errors were returned instead of a result. */
export function isRequestErrors(result: object): result is RequestErrors {
  return Array.isArray(result)
}

const maxLength = 2_000
/** What stays of a longer message: what is wrong, and at its end what to do about it. */
const startLength = 1_200
const endLength = 400

/** The error with a message that is short enough to read. */
export function readableError(error: GraphQLError): GraphQLError {
  const { message, nodes, path, extensions } = error
  if (message.length <= maxLength) return error
  const cut = `${message.slice(0, startLength)} ... ${message.slice(-endLength)}`
  return new GraphQLError(cut, { nodes: nodes ?? null, path: path ?? null, extensions })
}
