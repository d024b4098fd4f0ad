/** What a Host says of itself and of the Views that an application wants to follow. */
import { followLimits } from '../../follow/follow-limits.ts'
import { notServedState, type WelcomedView, type WelcomeFrame } from '../../follow/host-frames.ts'
import type { HostedView } from '../views/hosted-view.ts'
import type { Moment } from './moments.ts'

/** What a View takes in a frame beside its texts. */
const viewBytes = 128
/** What a frame takes beside its Views. */
const frameBytes = 1_024

/** One frame, or several where the SDL of all Views is too long for one; in the order of the Views. */
export function welcomeFrames(
  { proof, genesis }: Pick<WelcomeFrame, 'proof' | 'genesis'>,
  views: readonly WelcomedView[],
): WelcomeFrame[] {
  const frames: WelcomedView[][] = [[]]
  let bytes = frameBytes
  for (const view of views) {
    const more = viewBytes + Buffer.byteLength(view.sdl) + Buffer.byteLength(view.name)
    if (bytes + more > followLimits.frameBytes) {
      frames.push([])
      bytes = frameBytes
    }
    frames.at(-1)?.push(view)
    bytes += more
  }
  return frames.map((each) => ({ kind: 'welcome', proof, genesis, views: each }))
}

/** A View that is not served here, or of which no rows are stored. */
export function notServed(view: string): WelcomedView {
  return { view, name: '', sdl: '', tail: null, head: null, state: notServedState }
}

/** A View as it stands now, of which heights may still come that are not below `fillsFrom`. */
export function welcomed(
  { snapshot }: Moment,
  { id, name, sdl, slot }: HostedView,
  { state, fillsFrom }: { readonly state: string; readonly fillsFrom: number },
): WelcomedView {
  const range = snapshot.rowBlocks.range()
  const tail = range && Math.max(Math.min(range.tail, fillsFrom), snapshot.viewFrom(slot))
  return { view: id, name, sdl, tail, head: range?.head ?? null, state }
}
