/** A registered View that is not served, as it is listed. Pure. */
import type { ListedView, RefusedView } from '../../registry/listed-view.ts'
import { parseViewID } from '../../views/view-id.ts'
import type { OtherView } from '../other-view.ts'
import type { NotServed } from './outcomes.ts'

/** `outcome` is what became of it; null where nobody tried. */
export function toOther(
  { id: listed, name, sender: creator, registeredAt: registered_at }: ListedView,
  outcome: NotServed | null,
  isDenied: boolean,
): OtherView {
  const { state = 'overLimit', reason = null, proven = null } = outcome ?? {}
  const [id = listed, address = addressOf(listed)] = proven?.ids ?? []
  const shown = { id, address, type: proven?.name ?? name, creator, registered_at }
  return isDenied ? { ...shown, state: 'denied', reason: null } : { ...shown, state, reason }
}

/** One that the chain has, and that cannot be read. */
export function toUnreadable({ id, reason }: RefusedView): OtherView {
  const nothing = { type: null, creator: null, registered_at: null }
  return { id, address: addressOf(id), ...nothing, state: 'refused', reason }
}

function addressOf(id: string): string | null {
  return parseViewID(id)?.address ?? null
}
