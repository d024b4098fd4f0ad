/** Room for Views: how many there are at most, and with how many fields, so that their schema is quick to build and to read. */
import { ServiceError } from '../../errors.ts'
import { isLocal, type KeptView, type ViewOrigin } from './hosted-view.ts'

/** A View as far as it takes room. */
type Occupant = Pick<KeptView, 'query' | 'rowType' | 'origins'>

interface RoomLimits {
  /** Most Views that are served at once. */
  readonly maxViews: number
}

/** Fields for each View that there may be. */
const fieldsPerView = 50
const leastFields = 1_000

/** Most fields of all Views together. */
export function maxFieldsOf(maxViews: number): number {
  return Math.max(leastFields, fieldsPerView * maxViews)
}

/**
 * Those of other chains are bounded as well: anybody may register them. Registered Views make room for those that this
 * Host alone has.
 * @throws ServiceError `HOST_VIEWS_FULL`, `HOST_VIEW_FIELDS_FULL`
 */
export function requireRoom(
  added: Omit<Occupant, 'origins'>,
  origin: ViewOrigin,
  { maxViews }: RoomLimits,
  views: Iterable<Occupant>,
): void {
  const kept = [...views]
    .filter(({ query }) => (query === null) === (added.query === null))
    .filter((view) => origin === 'registry' || isLocal(view))
  if (kept.length >= maxViews) throw full(kept.length, maxViews, added.query === null)
  const fields = [...kept, added].reduce((sum, { rowType }) => sum + rowType.fields.length, 0)
  const maxFields = maxFieldsOf(maxViews)
  if (fields > maxFields) throw fieldsFull(fields, maxFields)
}

function full(count: number, maxViews: number, areForeign: boolean): ServiceError {
  const what = areForeign ? `has ${count} Views of other chains` : `serves ${count} Views`
  return new ServiceError('HOST_VIEWS_FULL', `the Host ${what}, of at most ${maxViews}`, {
    facts: { maxViews },
    remedy: 'Raise MAX_VIEWS, or delete a View that nobody queries.',
  })
}

function fieldsFull(fields: number, maxFields: number): ServiceError {
  return new ServiceError(
    'HOST_VIEW_FIELDS_FULL',
    `with this View the Views of the Host would have ${fields} fields together, of at most ${maxFields}`,
    {
      facts: { fields, maxFields },
      remedy: 'Give the View fewer fields, raise MAX_VIEWS, or delete a View that nobody queries.',
    },
  )
}
