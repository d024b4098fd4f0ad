/** Queries and subscriptions of an application, over its own store. */
import { ServiceError } from '../errors.ts'
import type { Graphql, GraphqlResult } from '../graphql/graphql.ts'
import { subscribeInProcess } from '../graphql/subscribe-in-process.ts'
import type { App, QueryOptions, Subscribed } from './contract.ts'
import { type CheckedOptions, checkOptionNames } from './options.ts'

interface QueryParts {
  readonly graphql: Graphql
  /** Whether all Views can be queried. */
  readonly isReady: () => boolean
}

const optionNames: Readonly<Record<keyof QueryOptions, 1>> = {
  minimumAttestations: 1,
  operationName: 1,
  signal: 1,
}

/** Everything stops with the signal. */
export function createQueries(
  { graphql, isReady }: QueryParts,
  { minimumAttestations: usual, signers }: Pick<CheckedOptions, 'minimumAttestations' | 'signers'>,
  closing: AbortSignal,
): Pick<App, 'query' | 'subscribe'> {
  const requestOf = (query: string, variables: object | undefined, options: QueryOptions) => {
    checkOptionNames(options, optionNames)
    const { operationName, minimumAttestations = usual } = options
    if (
      !Number.isInteger(minimumAttestations) ||
      minimumAttestations < 0 ||
      minimumAttestations > signers.size
    )
      throw tooMany(minimumAttestations, signers.size)
    return {
      query,
      variables: { ...variables },
      minimumAttestations,
      ...(operationName === undefined ? {} : { operationName }),
    }
  }
  const within = (signal: AbortSignal | undefined): AbortSignal =>
    signal === undefined ? closing : AbortSignal.any([closing, signal])

  return {
    query: async (query, variables, options = {}) => {
      closing.throwIfAborted()
      const signal = within(options.signal)
      const request = requestOf(query, variables, options)
      const result = await graphql.execute(request, signal)
      signal.throwIfAborted()
      if (graphql.operationKind(request) === 'subscription') throw notQueried()
      return { data: dataOf(result, isReady), incomplete: result.extensions?.views ?? [] }
    },
    subscribe: (query, variables, options = {}) => {
      closing.throwIfAborted()
      const signal = within(options.signal)
      const results = subscribeInProcess(graphql, requestOf(query, variables, options), {}, signal)
      return dataOfAll(results, isReady, closing)
    },
  }
}

/**
 * Ends with the application; throws what its store failed of. No generator, which would let go of the results only once somebody took
 * the first one.
 */
function dataOfAll<Data>(
  results: AsyncIterableIterator<GraphqlResult>,
  isReady: () => boolean,
  closing: AbortSignal,
): Subscribed<Data> {
  const end = async (): Promise<{ done: true; value: undefined }> => {
    await results.return?.()
    return { done: true, value: undefined }
  }
  return {
    next: async () => {
      const { done, value } = await results.next()
      if (done === true && closing.reason instanceof ServiceError) throw closing.reason
      if (done === true) return { done, value: undefined }
      try {
        return { done: false, value: dataOf<Data>(value, isReady) }
      } catch (error) {
        await end()
        throw error
      }
    },
    return: end,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const notReady = 'Not all Views are known yet: await app.untilReady() before the first query.'
/** As a View is named whose rows are asked for, and one whose rows are counted. */
const unknownView =
  /^(?:Cannot query field "\w+" on type "(?:Query|Subscription)"|Unknown argument "\w+" on field "Query\.)/

/** @throws ServiceError `APP_QUERY_REFUSED` with what is wrong. */
function dataOf<Data>({ data, errors }: GraphqlResult, isReady: () => boolean): Data {
  if (data !== null) return JSON.parse(data.join(''))
  const [first] = errors ?? []
  const place = first?.locations?.[0]
  const where = place === undefined ? '' : ` (line ${place.line}, column ${place.column})`
  const message = first?.message ?? 'no answer'
  const isEarly = unknownView.test(message) && !isReady()
  throw new ServiceError('APP_QUERY_REFUSED', `${message}${where}`, {
    facts: { code: String(first?.extensions['code'] ?? '') },
    ...(isEarly ? { remedy: notReady } : {}),
  })
}

function notQueried(): ServiceError {
  return new ServiceError('APP_QUERY_REFUSED', 'This is a subscription, and no query', {
    remedy: 'Ask for it with app.subscribe().',
  })
}

function tooMany(found: number, signers: number): ServiceError {
  return new ServiceError('APP_OPTION_INVALID', `the option minimumAttestations is ${found}`, {
    facts: { option: 'minimumAttestations', found: String(found) },
    remedy: `Accepted is a whole number from 0 to ${signers}, the number of signers.`,
  })
}
