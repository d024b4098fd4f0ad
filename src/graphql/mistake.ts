/** What went wrong as it is told to whoever asked: a message quotes what was sent, but not all of it. */
import { GraphQLError } from 'graphql'

const maxLength = 2_000
/** What stays of a longer message: what is wrong, and at its end what to do about it. */
const startLength = 1_200
const endLength = 400

/** The mistake with a message that can be read. */
export function readableMistake(mistake: GraphQLError): GraphQLError {
  const { message, nodes, path, extensions } = mistake
  if (message.length <= maxLength) return mistake
  const cut = `${message.slice(0, startLength)} ... ${message.slice(-endLength)}`
  return new GraphQLError(cut, { nodes: nodes ?? null, path: path ?? null, extensions })
}
