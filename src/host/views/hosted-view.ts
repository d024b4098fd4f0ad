/** A View that this Host serves. */
import type { RegisteredView } from '../../views/registration.ts'
import type { ViewQuery } from '../../views/view-query.ts'

/** A View of this chain, with what the Host gave it. */
export interface HostedView extends RegisteredView {
  readonly query: ViewQuery
  /** Its name in GraphQL; its own as long as the View is served. */
  readonly name: string
  /** Where its rows are in the store; no other View ever gets it. */
  readonly slot: number
}

/** A View as the Host keeps it: served, or of another chain. */
export type KeptView = HostedView | (RegisteredView & { readonly query: null })

/** Whether a View is served here. */
export function isHosted(view: KeptView): view is HostedView {
  return view.query !== null
}
