/**
 * Views that events announced, on their way to whoever wants them: each is asked of the LCD, which knows the height at which
 * it was registered; where that does not answer, the event's own bytes do. One at a time, so that a flood of events costs
 * neither memory nor the time of others.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import type { Lcd } from './lcd.ts'
import type { AnnouncedView, RefusedView, SentView } from './listed-view.ts'
import type { RegistryMetrics } from './metrics.ts'

interface QueueParts {
  readonly log: Logger
  readonly metrics: RegistryMetrics
  readonly lcd: Pick<Lcd, 'view'>
  readonly signal: AbortSignal
  readonly onSent: (view: SentView) => void
  readonly onRefused: (view: RefusedView) => void
  /** Called where something is left to a list. */
  readonly wantList: () => void
}

export interface EventQueue {
  /** `height` is that of the transaction with the event. */
  add(view: AnnouncedView, height: number | null): void
  /** Resolves once nothing is under way. */
  idle(): Promise<void>
}

/** As large as one View each; further ones are left to a list. */
const maxWaiting = 32
/** IDs that are remembered, since each event may arrive for several subscriptions. */
const maxRecent = 1_000
const attempts = 3
const attemptPauseMs = 200

export function createEventQueue(parts: QueueParts): EventQueue {
  const waiting: { readonly view: AnnouncedView; readonly height: number | null }[] = []
  const recent = new Set<string>()
  let working = Promise.resolve()
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const found = await resolve(parts, next.view, next.height)
      if (parts.signal.aborted) return
      if (found === null) recent.delete(next.view.id)
      pass(parts, found)
    }
  }
  return {
    add(view, height) {
      if (recent.has(view.id)) return
      if (waiting.length >= maxWaiting) {
        parts.metrics.events.inc({ outcome: 'dropped' })
        parts.wantList()
        return
      }
      recent.add(view.id)
      for (const id of recent) if (recent.size > maxRecent) recent.delete(id)
      waiting.push({ view, height })
      if (waiting.length === 1) working = working.then(work)
    },
    idle: () => working,
  }
}

function pass(
  { metrics, onSent, onRefused, wantList }: QueueParts,
  found: SentView | RefusedView | null,
): void {
  metrics.events.inc({ outcome: found === null || 'reason' in found ? 'refused' : 'read' })
  if (found === null) wantList()
  else if ('reason' in found) onRefused(found)
  else onSent(found)
}

/** Null where neither the LCD nor the event has it. */
async function resolve(
  { lcd, signal, log }: QueueParts,
  view: AnnouncedView,
  height: number | null,
): Promise<SentView | RefusedView | null> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await lcd.view(view.id, signal)
      if (found !== null) return found
    } catch (error) {
      if (signal.aborted) return null
      if (!(error instanceof ServiceError)) throw error
      log.debug({ err: error }, 'View of an event not fetched')
    }
    if (attempt === attempts) break
    await delay(attemptPauseMs * attempt, undefined, { signal, ref: false }).catch(() => null)
  }
  const { wire, ...claimed } = view
  return wire === null || height === null ? null : { ...claimed, wire, registeredAt: height }
}
