/**
 * Whether a cache may be relied on. It may from its first list on, for as long as it is kept up to date: it
 * counts as unread at once where the API server refuses to show the kind, or has never known it, and where it
 * cannot be followed for any other reason, once that has lasted. An API server that comes back is given some seconds before what it
 * refuses counts, since it refuses what it allows until it has read its roles. What counts as unread is listed
 * again before it is relied on again.
 */
import type { Logger } from 'pino'
import { ServiceError } from '../../../src/errors.ts'
import { hasCode } from '../client/api-error.ts'

interface FreshnessOptions {
  /** Lower-case plural of the kind, for messages. */
  readonly plural: string
  /** How long the API server may be out of reach, or fail, before what is cached counts as unread. Default 60,000. */
  readonly unreadAfterMs?: number
}

interface FreshnessParts {
  readonly log: Logger
  /** Called when it becomes unread, and when it can be relied on again. */
  readonly onTurn: () => void
}

export interface Freshness {
  /** Why nothing may follow from what is cached; null where it may be relied on. */
  unread(): ServiceError | null
  /** Whether there has to be a list before anything else. */
  needsList(): boolean
  /** A list was read whole. */
  listed(): void
  /** The API server lets the kind be watched. */
  watching(): void
  failed(failure: ServiceError): void
  close(): void
}

const defaultUnreadAfterMs = 60_000
const refusedAfterMs = 10_000

export function createFreshness(
  { plural, unreadAfterMs = defaultUnreadAfterMs }: FreshnessOptions,
  { log, onTurn }: FreshnessParts,
): Freshness {
  let hasList = false
  let needsList = true
  let failure: ServiceError | null = null
  let isUnread = false
  let awayTimer: NodeJS.Timeout | undefined
  let refusedTimer: NodeJS.Timeout | undefined

  const clearTimers = (): void => {
    clearTimeout(awayTimer)
    clearTimeout(refusedTimer)
    awayTimer = undefined
    refusedTimer = undefined
  }
  const turnUnread = (): void => {
    clearTimers()
    isUnread = true
    needsList = true
    log.warn({ err: failure }, 'nothing is done here until it can be read')
    onTurn()
  }
  const recover = (): void => {
    clearTimers()
    if (failure !== null) log.info('the API server answers again')
    failure = null
    if (!isUnread) return
    isUnread = false
    onTurn()
  }
  return {
    unread: () => (hasList && !isUnread ? null : (failure ?? notListed(plural))),
    needsList: () => needsList,
    listed() {
      needsList = false
      // Of what was listed before, the watch decides: a list alone would be out of date at once.
      if (hasList) return
      hasList = true
      recover()
    },
    watching: recover,
    failed(found) {
      const isFirst = failure === null
      failure = found
      if (isUnread) return
      const isUnknown = !hasList && hasCode(found, 'OPERATOR_API_NOT_FOUND')
      if (!isUnknown && !hasCode(found, 'OPERATOR_API_FORBIDDEN')) {
        if (isFirst) log.warn({ err: found }, 'the API server cannot be followed')
        awayTimer ??= setTimeout(turnUnread, unreadAfterMs)
      } else if (awayTimer === undefined) turnUnread()
      else refusedTimer ??= setTimeout(turnUnread, refusedAfterMs)
    },
    close: clearTimers,
  }
}

function notListed(plural: string): ServiceError {
  return new ServiceError('OPERATOR_API_UNREACHABLE', `${plural} have not been listed yet`, {
    remedy: 'Nothing: it is tried again.',
  })
}
