/** Says once of each View that its rows took more of the store than they may, so that the oldest of them went. */
import type { Logger } from 'pino'
import type { Snapshot } from '../../../store/store.ts'
import type { HostedView } from '../hosted-view.ts'

const noted = new WeakSet<HostedView>()

/** To be called with a snapshot of what was stored of the View. */
export function noteLimit(
  log: Logger,
  snapshot: Pick<Snapshot, 'viewFrom'>,
  view: HostedView,
): void {
  if (noted.has(view)) return
  const from = snapshot.viewFrom(view.slot)
  if (from === 0) return
  noted.add(view)
  const { id, address, name } = view
  log.warn(
    { view: name, id, address, from, setting: 'VIEW_MAX_BYTES' },
    'a View takes as much of the store as it may: its oldest rows go as new ones come',
  )
}
