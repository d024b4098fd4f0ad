/** Admits one registered View: fetches, verifies and checks it, and serves it, or notes why not and for how long. */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { RefusedView, SentView } from '../../registry/listed-view.ts'
import { type VerifiedView, verifyView } from '../../registry/verify-view.ts'
import type { ViewChecker } from '../views/view-checker.ts'
import type { HostViews } from '../views/views.ts'
import type { Candidates } from './candidates.ts'
import { noteOutcome, type Outcomes, retryMs } from './outcomes.ts'
import type { FilteredView, Standing } from './view-filter.ts'
import { countFields, hostedOf } from './views-of-host.ts'

interface AdmitOptions {
  /** Most fields of all Views together. */
  readonly maxFields: number
}

export interface AdmitParts {
  readonly log: Logger
  readonly views: Pick<HostViews, 'list' | 'register'>
  /** See `RegistryFollower.fetch`. */
  readonly fetch: (id: string) => Promise<SentView | RefusedView | null>
  readonly outcomes: Pick<Outcomes, 'of' | 'note'>
  readonly checker: Pick<ViewChecker, 'check'>
  readonly candidates: Pick<Candidates, 'get' | 'standing'>
  /** How a View stands in the lists of this moment. */
  readonly filter: (view: FilteredView) => Standing
  /** Counts what became of a View that was fetched. */
  readonly count: (outcome: 'served' | 'foreign' | 'refused') => void
}

/**
 * `passed` where its place is for another View, `later` where nobody can be admitted now.
 * @throws where the store has failed, which says nothing of the View.
 */
export async function admitView(
  id: string,
  options: AdmitOptions,
  parts: AdmitParts,
): Promise<'admitted' | 'passed' | 'later'> {
  let verified: VerifiedView | null = null
  try {
    verified = await fetchVerified(parts, id)
    const { foreign, type, fields, ...facts } = await parts.checker.check(verified)
    const { sender } = verified
    const proven = { ids: [verified.id, verified.address], sender, name: type }
    if (!standsAsListed(parts, id, proven)) return 'passed'
    if (foreign === null) {
      if (!hasRoom(parts, id, { fields, proven, ...options })) return 'passed'
      await parts.views.register(verified, 'registry', facts)
      parts.count('served')
      return 'admitted'
    }
    const outcome = { state: 'foreign', reason: `it reads ${foreign}`, proven } as const
    noteOutcome(parts.outcomes, id, outcome, forGood)
    parts.count('foreign')
    return 'passed'
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return refuse(parts, id, error, verified)
  }
}

/** What follows from bytes that are certainly the View's. */
const forGood = { forMs: retryMs.wrong, isKept: true } as const

/** @throws ServiceError where it cannot be fetched, or is not what it says. */
async function fetchVerified({ fetch }: AdmitParts, id: string): Promise<VerifiedView> {
  const found = await fetch(id)
  if (found === null || 'reason' in found) {
    const why = found === null ? 'the chain lists it and does not have it' : found.reason
    throw new ServiceError('REGISTRY_VIEW_MISMATCH', `View ${id} is not what it says: ${why}`, {
      remedy: 'Nothing to do: the Host asks again later, and serves it once it is.',
    })
  }
  return verifyView(found)
}

/** Whether a View stands in the lists of this moment as it seemed to by what the chain says; otherwise that is noted. */
function standsAsListed(
  { candidates, filter, outcomes }: AdmitParts,
  id: string,
  proven: FilteredView,
): boolean {
  const listed = candidates.get(id)
  const standing = filter(proven)
  const isAsListed = listed === undefined || candidates.standing(listed) === standing
  if (isAsListed && standing !== 'denied') return true
  const reason = `it is ${proven.ids.join(' and ')}, of the type ${proven.name}`
  const { bytes = 0, fields = 0 } = outcomes.of(id) ?? {}
  noteOutcome(outcomes, id, { state: 'overLimit', reason, bytes, fields, proven }, forGood)
  return false
}

/** Whether its fields fit beside those that are served; otherwise they are noted, and the next decision knows them. */
function hasRoom(
  { views, outcomes }: AdmitParts,
  id: string,
  {
    fields,
    proven,
    maxFields,
  }: AdmitOptions & { readonly fields: number; readonly proven: FilteredView },
): boolean {
  if (countFields(hostedOf(views.list())) + fields <= maxFields) return true
  const reason = `with its ${fields} fields all Views together would have more than ${maxFields}`
  const bytes = outcomes.of(id)?.bytes ?? 0
  noteOutcome(outcomes, id, { state: 'overLimit', reason, bytes, fields, proven }, forGood)
  return false
}

/** Codes of what follows from the bytes of a View; anything else may have become otherwise within the hour. */
const ofTheBytes = /^(VIEWS|LENS)_/

/** Only what follows from bytes that are certainly the View's is remembered for long. */
function refuse(
  { log, outcomes, candidates, count }: AdmitParts,
  id: string,
  error: ServiceError,
  verified: VerifiedView | null,
): 'passed' | 'later' {
  const { code, message } = error
  if (code.startsWith('STORE_')) throw error
  // The Host has become full meanwhile, which the next decision sees.
  if (code === 'HOST_VIEWS_FULL' || code === 'HOST_VIEW_FIELDS_FULL') return 'later'
  log.debug({ view: id, code, reason: message }, 'registered View not served')
  const isFetched = verified !== null || code === 'REGISTRY_VIEW_MISMATCH'
  const forNow = { forMs: isFetched ? retryMs.refused : retryMs.unreachable }
  const isOfTheBytes = verified !== null && ofTheBytes.test(code)
  const outcome = { state: 'refused', reason: `${code}: ${message}` } as const
  const known = verified && { proven: unnamed(verified, candidates.get(id)?.name) }
  noteOutcome(outcomes, id, { ...outcome, ...known }, isOfTheBytes ? forGood : forNow)
  count('refused')
  return isFetched ? 'passed' : 'later'
}

/** What is known of a View whose bytes are no good. */
function unnamed({ id, address, sender }: VerifiedView, listedName = ''): FilteredView {
  return { ids: [id, address], sender, name: listedName }
}
