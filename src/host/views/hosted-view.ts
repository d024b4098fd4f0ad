/** A View that this Host has, and where it has it from. */
import type { RegisteredView } from '../../views/registration.ts'
import type { ViewQuery } from '../../views/view-query.ts'

/** Posted by the administrator, in the folder of `HOST_VIEWS_DIR`, or registered on the registry chain. */
export type ViewOrigin = 'posted' | 'folder' | 'registry'

/** A View with everything that wants it here: it goes with the last. */
interface WantedView extends RegisteredView {
  /** At least one, in the order in which they came. */
  readonly origins: readonly ViewOrigin[]
}

/** A View of this chain, with what the Host gave it. */
export interface HostedView extends WantedView {
  readonly query: ViewQuery
  /** Its name in GraphQL; its own as long as the View is served. */
  readonly name: string
  /** Where its rows are in the store; no other View ever gets it. */
  readonly slot: number
}

/** A View as the Host keeps it: served, or of another chain. */
export type KeptView = HostedView | (WantedView & { readonly query: null })

/** Whether a View is served here. */
export function isHosted(view: KeptView): view is HostedView {
  return view.query !== null
}

/** Whether it has its place by the word of the administrator, whatever the registry chain says. */
export function isLocal({ origins }: { readonly origins: readonly ViewOrigin[] }): boolean {
  return origins.some((origin) => origin !== 'registry')
}
