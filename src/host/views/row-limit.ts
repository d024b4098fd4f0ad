/** Says once of each View that its rows took more of the store than they may, so that the oldest of them went. */
import type { Logger } from 'pino'
import type { StoreReader } from '../../store/store.ts'
import type { HostedView } from './hosted-view.ts'

const noted = new WeakSet<HostedView>()

/** To be called after rows of the View were stored. */
export function noteLimit(
  { reader, log }: { readonly reader: StoreReader; readonly log: Logger },
  view: HostedView,
): void {
  if (noted.has(view)) return
  const from = reader.read((snapshot) => snapshot.viewFrom(view.slot))
  if (from === 0) return
  noted.add(view)
  const { id, address, name } = view
  log.warn(
    { view: name, id, address, from, setting: 'VIEW_MAX_BYTES' },
    'a View takes as much of the store as it may: its oldest rows go as new ones come',
  )
}
