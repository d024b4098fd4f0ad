/** Subscriptions of the program itself: results one by one, for a consumer that takes them at its own pace. */
import { GraphQLError } from 'graphql'
import type { Graphql, GraphqlRequest, GraphqlResult } from './graphql.ts'
import {
  defaultRowLimits,
  findErrors,
  type RowLimits,
  type SubscribedEngine,
  sendRows,
} from './subscribed-rows.ts'

/**
 * What a subscription finds from this call on, a result for each height that has rows, in the order in which the heights
 * are notified. Ends when the signal is aborted or nobody wants more. The last result has errors where the request is not
 * valid, the consumer falls behind, or the View is no longer served.
 */
export function subscribeInProcess(
  graphql: SubscribedEngine & Pick<Graphql, 'operationKind'>,
  request: GraphqlRequest,
  options: Partial<RowLimits>,
  signal: AbortSignal,
): AsyncIterableIterator<GraphqlResult> {
  const controller = new AbortController()
  const limits = { ...defaultRowLimits, ...options }
  const results = createHandOver(() => controller.abort())
  let isFollowing = false
  const end = (last: GraphqlResult): void => {
    results.end(last)
    controller.abort()
  }
  const follow = (): void => {
    if (isFollowing || graphql.operationKind(request) !== 'subscription') return
    isFollowing = true
    sendRows({ graphql, request, limits }, { send, end }, controller.signal)
  }
  const send = async (
    result: GraphqlResult,
    account: { readonly close: () => void },
  ): Promise<void> => {
    await checked
    await results.put(result)
    account.close()
  }
  const check = async (): Promise<void> => {
    const failed = await findErrors(graphql, request, controller.signal)
    // Its View may have come meanwhile.
    follow()
    if (failed !== null) end(failed)
    else if (!isFollowing) end({ data: null, errors: [noSubscription()] })
  }
  follow()
  const checked = check()
  const stop = (): void => void results.return()
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { signal: controller.signal })
  return results
}

const noSubscription = (): GraphQLError =>
  new GraphQLError('Only a subscription can be subscribed to: execute this query instead.')

/** Hands results over to whoever iterates. */
interface HandOver extends AsyncIterableIterator<GraphqlResult> {
  /** Resolves when the result was taken, or nobody wants it any more. */
  put(result: GraphqlResult): Promise<void>
  /** Nothing follows this result. */
  end(last: GraphqlResult): void
  return(): Promise<IteratorResult<GraphqlResult>>
}

function createHandOver(onReturn: () => void): HandOver {
  const waiting: { readonly result: GraphqlResult; readonly onTaken: () => void }[] = []
  const asking: ((taken: IteratorResult<GraphqlResult>) => void)[] = []
  let isOver = false
  const offer = (result: GraphqlResult, onTaken: () => void): void => {
    const answer = asking.shift()
    if (answer === undefined) waiting.push({ result, onTaken })
    else {
      answer({ done: false, value: result })
      onTaken()
    }
  }
  const close = (): void => {
    isOver = true
    for (const answer of asking.splice(0)) answer(done)
  }
  return {
    put: (result) =>
      new Promise((resolve) => {
        if (isOver) resolve()
        else offer(result, resolve)
      }),
    end(last) {
      if (!isOver) offer(last, () => undefined)
      close()
    },
    async next() {
      const first = waiting.shift()
      first?.onTaken()
      if (first !== undefined) return { done: false, value: first.result }
      return isOver ? done : await new Promise((resolve) => asking.push(resolve))
    },
    async return() {
      close()
      for (const { onTaken } of waiting.splice(0)) onTaken()
      onReturn()
      return done
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const done: IteratorResult<GraphqlResult> = { done: true, value: undefined }
